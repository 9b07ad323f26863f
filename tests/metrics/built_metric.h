// A metric of a recipe, and its values of one batch.
#pragma once

#include <ATen/ops/tensor.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "metrics/metric.h"
#include "support/node.h"

namespace ddptrain::test {

inline std::unique_ptr<Metric> build(const nlohmann::json& recipe,
                                     std::vector<std::string> classes = {}) {
  return catalog<Metric>().build(fragment<Metric>(recipe), MetricContext{std::move(classes)});
}

inline at::Tensor scores(std::vector<double> values, std::int64_t classes) {
  return at::tensor(values, at::kDouble).view({-1, classes});
}
inline at::Tensor labels(std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); }

inline Metric::Values of(const Metric& metric, const at::Tensor& output, const at::Tensor& target) {
  Metric::Terms total;
  metric.add(total, metric.terms(output, target, {}));
  return metric.values(total);
}

}  // namespace ddptrain::test
