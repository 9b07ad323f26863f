// The model against published throughputs: it reproduces those that it is calibrated on, and is
// within 15 % of those that are held out and that it claims.
#include <gtest/gtest.h>

#include <cmath>

#include "base/files/files.h"
#include "forecast/published_points.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using test::Use;

std::vector<test::PublishedPoint> points_of(Use use, bool inside) {
  auto points = test::published_points();
  std::erase_if(
      points, [&](const auto& each) { return each.use != use || each.outside.empty() != inside; });
  return points;
}

TEST(CalibrationPoints, AreReproduced) {
  const auto points = points_of(Use::calibration, true);
  EXPECT_EQ(points.size(), 1U);
  for (const auto& point : points) EXPECT_NEAR(test::error_of(point), 0, 0.002) << point.name;
}

TEST(HeldOutPoints, InsideTheModelAreWithin15Percent) {
  const auto points = points_of(Use::held_out, true);
  EXPECT_EQ(points.size(), 6U);
  for (const auto& point : points) EXPECT_NEAR(test::error_of(point), 0, 0.15) << point.name;
}

// A forecast that nothing is lost would be as good for those that lose little.
TEST(HeldOutPoints, AreForecastBetterThanByPerfectScaling) {
  for (const auto& point : points_of(Use::held_out, true))
    EXPECT_LT(std::abs(test::error_of(point)), test::error_without_losses(point)) << point.name;
}

TEST(HeldOutPoints, InsideKeepTheBatchOfADevice) {
  for (const auto& point : points_of(Use::held_out, true))
    EXPECT_DOUBLE_EQ(point.micro * point.accumulate, point.base.samples()) << point.name;
}

TEST(PublishedPoints, AreInTheDocumentWithTheirErrors) {
  const auto document = read_text(test::in_source("docs/forecast.md"));
  std::string table;
  for (const auto& line : test::points_table()) table += line + "\n";
  EXPECT_NE(document.find(table), std::string::npos) << "the table of docs/forecast.md should be:\n"
                                                     << table;
}

// Rates of the arithmetic that steps reach come from runs on one node.
TEST(ReachedArithmetic, FollowsFromPublishedRates) {
  constexpr double resnet50 = 3 * 8.18e9;  // torchvision: 4.09 G multiply-adds forward
  // 6 N of the parameters without the embedding, 12 layers x width x length of attention.
  constexpr double llama = 6 * (8.03e9 - 128256 * 4096.0) + 12 * 32 * 4096 * 8192.0;
  constexpr double gpt2 = 6 * 124e6 + 12 * 12 * 768 * 1024.0;
  const auto reached = [](const char* machine, double per_second, double flops) {
    return per_second * flops / find_machine(machine)->bf16.value;
  };
  const auto &a100 = *find_machine("a100x8"), &h100 = *find_machine("h100x8");
  EXPECT_NEAR(a100.reached_convolution.value, reached("a100x8", 2470, resnet50), 1e-3);
  EXPECT_NEAR(a100.reached_product.value, reached("a100x8", 115e3, gpt2), 1e-3);
  EXPECT_NEAR(h100.reached_convolution.value, reached("h100x8", 7008, resnet50), 1e-3);
  EXPECT_NEAR(h100.reached_product.value, reached("h100x8", 5762, llama), 1e-3);
}

TEST(ReachedArithmetic, OfConvolutionsOnOtherMachinesGrowsWithMemory) {
  const auto& h100 = *find_machine("h100x8");
  for (const auto* name : {"h200x8", "b200x8", "gb200x72"}) {
    const auto& machine = *find_machine(name);
    const double bandwidth = machine.bandwidth.value / h100.bandwidth.value;
    const double arithmetic = machine.bf16.value / h100.bf16.value;
    EXPECT_NEAR(machine.reached_convolution.value,
                h100.reached_convolution.value * bandwidth / arithmetic, 2e-3)
        << name;
  }
}

}  // namespace
}  // namespace ddptrain
