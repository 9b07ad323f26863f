// A whole network as a recipe names it.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/catalog.h"
#include "models/module.h"

namespace ddptrain {

/// What the data tells a model, and the generator that draws its first weights (torch's CPU
/// generator, in torch's order of initialisation, so that torch.manual_seed(seed) gives the peer's
/// weights where the constructors agree).
struct ModelContext {
  std::int64_t classes = 0;          // 0: unknown
  std::vector<std::int64_t> sample;  // shape of one input without rows, {3, 128, 128}; may be empty
  std::vector<std::int64_t> cardinalities;  // how many values each column of whole numbers can take
  at::Generator generator;
};

/// Inputs of a batch to outputs (logits). `forward` of a module takes one tensor; a model with
/// several inputs overrides `run`.
class Model : public Module {
 public:
  using Make = std::unique_ptr<Model>(const ModelContext&);

  virtual at::Tensor run(const std::vector<at::Tensor>& inputs, const Pass& pass) {
    return forward(inputs.at(0), pass);
  }
};

template <>
const Catalog<Model>& catalog<Model>();

}  // namespace ddptrain
