// The graph of a model: what LibTorch's tracer sees of an evaluation pass.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <functional>
#include <string>
#include <vector>

#include "models/model.h"

namespace ddptrain {

/// A model as a tree of script modules that share its tensors under their names, with `forward` as
/// a graph of LibTorch's operators: nothing in it needs this program.
struct TracedModel {
  torch::jit::Module module;
  std::vector<std::string> inputs;  // their names: "images"
};

/// Inputs of a batch with so many rows, and, of texts, so many tokens in a row.
using ExampleInputs =
    std::function<std::vector<at::Tensor>(std::int64_t rows, std::int64_t tokens)>;

struct TraceOptions {
  std::vector<std::string> inputs;  // names
  /// From the graph's inputs to the model's, by LibTorch's operators; none: they are the same.
  std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)> prepare = {};
  bool half = false;      // the model computes in fp16; what it takes and gives stays float32
  std::int64_t rows = 0;  // fixed; 0: any number
  bool tokens = false;    // rows of any number of tokens
};

/// Records evaluation passes; the model's parameters ask for no gradients any more. Sizes that the
/// model reads from its input are in a trace as numbers; those that differ between traces with
/// different numbers of rows (and tokens) are replaced by what they follow from. An Error
/// (Exit::recipe) that names the operator where a pass depends on them in another way, or on the
/// values of its input.
TracedModel trace(Model& model, const ExampleInputs& example, const TraceOptions& options);

}  // namespace ddptrain
