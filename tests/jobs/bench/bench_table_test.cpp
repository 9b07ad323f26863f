// The tables of `bench`.
#include "jobs/bench/bench_table.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ddptrain {
namespace {

using testing::HasSubstr;

StepTimes step_of(int devices, double seconds) {
  StepTimes times;
  times.devices = times.ranks = devices;
  times.global = 100;
  times.step = seconds;
  times.phases = {0.0, 0.0, 0.25 * seconds, 0.5 * seconds, 0.0, 0.0, 0.0, 0.0, 0.25 * seconds};
  times.limits = {100e9, 10e9};
  times.flops = 50e9 * seconds;
  times.bytes = 1e9 * seconds;
  return times;
}

TEST(BenchTable, HasSharesThatSumToTheWhole) {
  const auto text = parts_text(step_of(1, 0.2));
  EXPECT_THAT(text, HasSubstr("forward                  50.00   25.0 %"));
  EXPECT_THAT(text, HasSubstr("together                200.00  100.0 %"));
  EXPECT_THAT(text, HasSubstr("500 samples per second"));
  EXPECT_THAT(text, HasSubstr("arithmetic: 50.0 GFLOP/s of 100.0, 50.0 %"));
  EXPECT_THAT(text, HasSubstr("memory: 1.0 GB/s of 10.0, 10.0 %"));
}

// Amdahl's numbers: half the time on two devices is twice as fast, a third on four 75 %.
TEST(BenchTable, ComparesDevicesWithTheFirstRow) {
  EXPECT_EQ(speed_up_text({step_of(1, 0.6), step_of(2, 0.3), step_of(4, 0.2)}),
            "devices  global batch  ms/step  samples/s  speed-up  efficiency\n"
            "1                 100   600.00        167      1.00     100.0 %\n"
            "2                 100   300.00        333      2.00     100.0 %\n"
            "4                 100   200.00        500      3.00      75.0 %\n");
}

TEST(BenchTable, IsTheSameAsJson) {
  const auto printed = nlohmann::json::parse(bench_json({step_of(1, 0.6), step_of(2, 0.3)}));
  const auto& second = printed.at("runs").at(1);
  EXPECT_DOUBLE_EQ(second.at("speed_up"), 2);
  EXPECT_DOUBLE_EQ(second.at("phases").at("backward"), 0.15);
  EXPECT_EQ(second.at("bottleneck").at("part"), "compute");
}

TEST(StepTimes, SurviveTheWayToAnotherProcess) {
  auto times = step_of(4, 0.25);
  times.arithmetic = "bf16";
  times.convolves = true;
  EXPECT_EQ(to_json(step_times_from(to_json(times))), to_json(times));
}

}  // namespace
}  // namespace ddptrain
