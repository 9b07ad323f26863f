// Metrics on a device give the CPU's numbers, and nothing waits for them.
#include "metrics/metric.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "recipe/targets.h"
#include "simulated/use.h"
#include "support/node.h"

namespace ddptrain {
namespace {

struct Rows {
  at::Tensor output, target;
};

Rows rows_for(const EntryBase& entry, bool labels, bool numbers) {
  const auto values = at::arange(1, 9, at::kDouble).div(10);
  const auto column = values.slice(0, 0, 4).view({4, 1});
  if (labels) return {values.view({4, 2}), values.gt(0.4).view({4, 2})};
  if (entry.has("takes_points") && !numbers) return {values.view({2, 4}), values.view({2, 2, 2})};
  if (numbers) return {column, values.slice(0, 1, 5)};
  const auto classes = at::arange(4).remainder(2);
  return {entry.has("one_output") ? column : values.view({4, 2}), classes};
}

TEST(MetricsOnADevice, AreTheCpusWithoutAWait) {
  const auto device = test::simulated_device();
  const LossTerms loss{at::ones({4}), at::ones({4})};
  for (std::size_t i = 0; i < catalog<Metric>().size(); ++i) {
    const auto& entry = catalog<Metric>().at(i);
    SCOPED_TRACE(entry.name);
    const auto recipe = entry.name == "top_k" ? nlohmann::json{{"type", "top_k"}, {"k", 1}}
                                              : nlohmann::json(entry.name);
    const auto metric = catalog<Metric>().build(fragment<Metric>(recipe), MetricContext{});
    const auto rows = rows_for(entry, entry.has("takes_labels"), entry.has("takes_number"));
    const auto output = rows.output.to(device), target = rows.target.to(device);
    const LossTerms far{loss.values.to(device), loss.weights.to(device)};
    simulated::reset();
    const auto sums = metric->sums(output, target, far);
    EXPECT_EQ(simulated::counts().waited(), 0);
    EXPECT_EQ(simulated::counts().from_pageable, 0);
    EXPECT_EQ(sums.device(), device);
    const auto here = metric->sums(rows.output, rows.target, loss);
    EXPECT_LT(sums.cpu().sub(here).abs().max().item<double>(), 1e-12);
  }
}

}  // namespace
}  // namespace ddptrain
