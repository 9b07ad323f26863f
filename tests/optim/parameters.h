// Parameters and gradients for tests of optimizers.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "optim/optimizer.h"
#include "support/node.h"

namespace ddptrain::testing_optim {

inline at::Tensor doubles(std::vector<double> values) { return at::tensor(values, at::kDouble); }

inline NamedTensor parameter(const std::string& name, std::vector<double> values) {
  return {name, doubles(std::move(values)).set_requires_grad(true)};
}

inline ParameterGroup group(std::vector<NamedTensor> parameters) {
  ParameterGroup made;
  made.parameters = std::move(parameters);
  return made;
}

inline std::unique_ptr<Optimizer> build(const nlohmann::json& recipe,
                                        std::vector<ParameterGroup> groups) {
  return catalog<Optimizer>().build(fragment<Optimizer>(recipe), std::move(groups));
}

inline void set_gradient(const NamedTensor& p, std::vector<double> values) {
  p.tensor.mutable_grad() = doubles(std::move(values));
}

inline void step(Optimizer& optimizer) { optimizer.step({optimizer.lr(), {}}); }

inline std::vector<double> values(const at::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kDouble).contiguous();
  const auto* first = flat.const_data_ptr<double>();
  return {first, first + flat.numel()};
}

}  // namespace ddptrain::testing_optim
