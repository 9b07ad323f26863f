// Networks as a recipe would get them, and small questions about tensors.
#pragma once

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>

#include <memory>

#include "models/model.h"
#include "support/node.h"

namespace ddptrain::test {

inline at::Generator seeded(std::uint64_t seed) {
  auto generator = at::detail::getDefaultCPUGenerator().clone();
  generator.set_current_seed(seed);
  return generator;
}

inline std::unique_ptr<Model> make_model(const nlohmann::json& recipe, ModelContext context = {}) {
  if (!context.generator.defined()) context.generator = seeded(1);
  return catalog<Model>().build(fragment<Model>(recipe), context);
}

/// A recipe with more options, or other values of some.
inline nlohmann::json with(nlohmann::json recipe, const nlohmann::json& more) {
  recipe.update(more);
  return recipe;
}

inline at::Tensor find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const auto& t : tensors)
    if (t.name == name) return t.tensor;
  return {};
}

inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.numel() == 0 ? 0 : a.sub(b).abs().max().item<double>();
}

/// A training pass of a step whose rows begin at one of the global batch.
inline Pass training(std::int64_t step, std::int64_t first_row) {
  return {.training = true, .seed = 42, .step = step, .first_row = first_row};
}

inline at::Tensor noise(std::vector<std::int64_t> shape) { return at::randn(shape); }

}  // namespace ddptrain::test
