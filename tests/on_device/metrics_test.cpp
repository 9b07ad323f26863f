// Metrics on a device give the CPU's numbers, and nothing waits for them.
#include "metrics/metric.h"

#include <gtest/gtest.h>

#include "metrics/tried_metrics.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

TEST(MetricsOnADevice, AreTheCpusWithoutAWait) {
  const auto device = test::simulated_device();
  for (const auto& tried : tried_metrics()) {
    SCOPED_TRACE(tried.name);
    const auto output = tried.output.to(device), target = tried.target.to(device);
    const LossTerms far{tried.loss.values.to(device), tried.loss.weights.to(device)};
    simulated::reset();
    const auto sums = tried.metric->sums(output, target, far);
    EXPECT_EQ(simulated::counts().waited(), 0);
    EXPECT_EQ(simulated::counts().from_pageable, 0);
    EXPECT_EQ(sums.device(), device);
    const auto here = tried.metric->sums(tried.output, tried.target, tried.loss);
    EXPECT_LT(sums.cpu().sub(here).abs().max().item<double>(), 1e-12);
  }
}

}  // namespace
}  // namespace ddptrain
