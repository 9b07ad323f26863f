// Every metric: its sums as on the CPU.
#include "metrics/tried_metrics.h"

#include <gtest/gtest.h>

#include "gpu/device.h"

namespace ddptrain::gpu {
namespace {

void expect_the_metric_of_the_cpu(const Tolerance& tolerance) {
  for (const auto& tried : tried_metrics()) {
    SCOPED_TRACE(tried.name);
    const auto output = tried.output.to(tolerance.type);
    const auto target =
        tried.target.is_floating_point() ? tried.target.to(tolerance.type) : tried.target;
    const auto near = tried.metric->sums(output, target, tried.loss);
    const LossTerms loss{tried.loss.values.to(device()), tried.loss.weights.to(device())};
    const auto far = tried.metric->sums(output.to(device()), target.to(device()), loss);
    EXPECT_EQ(far.device(), device());
    EXPECT_LE(relative_distance(far, near), tolerance.distance);
  }
}

TEST(EveryMetric, IsThatOfTheCpuInDoublePrecision) {
  expect_the_metric_of_the_cpu({at::kDouble, 1e-12});
}
TEST(EveryMetric, IsThatOfTheCpuInSinglePrecision) {
  expect_the_metric_of_the_cpu({at::kFloat, 1e-5});
}

}  // namespace
}  // namespace ddptrain::gpu
