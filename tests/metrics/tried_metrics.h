// Every metric with a batch that it takes: what devices are compared by.
#pragma once

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>

#include <memory>
#include <string>
#include <vector>

#include "metrics/metric.h"
#include "recipe/targets.h"
#include "support/node.h"

namespace ddptrain {

/// Four rows in double precision, or two of two points.
struct TriedMetric {
  std::string name;
  std::unique_ptr<Metric> metric;
  at::Tensor output, target;
  LossTerms loss;
};

inline void give_rows(TriedMetric& tried, const EntryBase& entry) {
  const auto values = at::arange(1, 9, at::kDouble).div(10);
  const auto column = values.slice(0, 0, 4).view({4, 1});
  if (entry.has("takes_labels")) {
    tried.output = values.view({4, 2});
    tried.target = values.gt(0.4).view({4, 2});
  } else if (entry.has("takes_number")) {
    tried.output = column;
    tried.target = values.slice(0, 1, 5);
  } else if (entry.has("takes_points")) {
    tried.output = values.view({2, 4});
    tried.target = values.view({2, 2, 2}).mul(0.9);
  } else {
    tried.output = entry.has("one_output") ? column : values.view({4, 2});
    tried.target = at::arange(4).remainder(2);
  }
}

inline std::vector<TriedMetric> tried_metrics() {
  std::vector<TriedMetric> all;
  for (std::size_t i = 0; i < catalog<Metric>().size(); ++i) {
    const auto& entry = catalog<Metric>().at(i);
    const auto recipe = entry.name == "top_k" ? nlohmann::json{{"type", "top_k"}, {"k", 1}}
                                              : nlohmann::json(entry.name);
    all.push_back({entry.name,
                   catalog<Metric>().build(fragment<Metric>(recipe),
                                           MetricContext{.tokens = TokenFacts{{1, 3}}}),
                   {},
                   {},
                   {at::ones({4}), at::ones({4})}});
    give_rows(all.back(), entry);
  }
  return all;
}

}  // namespace ddptrain
