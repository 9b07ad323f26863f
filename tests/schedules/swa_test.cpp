// The rate that is held for stochastic weight averaging, against torch.optim.swa_utils.SWALR.
#include "schedules/swa.h"

#include <gtest/gtest.h>

#include "support/node.h"

namespace ddptrain {
namespace {

std::unique_ptr<Schedule> held(const nlohmann::json& schedule, const SwaRate& rate) {
  return swa_schedule(
      catalog<Schedule>().build(fragment<Schedule>(schedule), ScheduleContext{0.2, 0.9}), rate);
}

void expect_rates(SwaAnneal anneal, const std::vector<double>& wanted) {
  const auto schedule = held("constant", {0.05, anneal, 10, 4});
  EXPECT_EQ(schedule->lr({9, 100, 1}), 0.2);
  for (std::size_t k = 0; k < wanted.size(); ++k)
    EXPECT_NEAR(schedule->lr({10 + static_cast<std::int64_t>(k), 100, 1}), wanted[k], 1e-15) << k;
}

// SWALR(SGD(lr=0.2), swa_lr=0.05, anneal_epochs=4), the rate before each step.
TEST(SwaSchedule, AnnealsToItsRateAsTorchDoes) {
  expect_rates(SwaAnneal::cosine,
               {0.2, 0.17803300858899107, 0.125, 0.07196699141100894, 0.05, 0.05});
  expect_rates(SwaAnneal::linear, {0.2, 0.1625, 0.125, 0.0875, 0.05, 0.05});
  expect_rates(SwaAnneal::none, {0.05, 0.05});
}

TEST(SwaSchedule, BeginsAtWhatTheScheduleGivesThere) {
  const auto schedule = held("linear", {0.05, SwaAnneal::linear, 50, 2});
  const auto plain =
      catalog<Schedule>().build(fragment<Schedule>("linear"), ScheduleContext{0.2, 0.9});
  const double before = plain->lr({50, 100, 10});
  EXPECT_EQ(schedule->lr({50, 100, 10}), before);
  EXPECT_NEAR(schedule->lr({51, 100, 10}), (before + 0.05) / 2, 1e-15);
}

}  // namespace
}  // namespace ddptrain
