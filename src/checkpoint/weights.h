// Weights in files: of another run or program as the start of a model, and the mean of several.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "models/module.h"

namespace ddptrain {

/// Tensors of a .safetensors file, of a file that torch.save wrote, or of the model.safetensors in
/// a checkpoint's folder or in that of a run's newest one. Throws an Error (Exit::data).
std::vector<NamedTensor> read_weights(const std::string& path);

/// The same with the names of the classes that the outputs stand for, in their order: those of the
/// checkpoint that the file lies in, or in its header (export); none where nobody knows.
struct SavedWeights {
  std::vector<NamedTensor> tensors;
  std::vector<std::string> classes;
};
SavedWeights read_saved_weights(const std::string& path);

/// How the classes of saved outputs stand to those of a model.
enum class Outputs { as_they_are, reordered, others };

/// Puts the rows of `layer` (the name before the dot) in the order of the classes `here`. Changes
/// nothing where classes are not known, or where others are there.
Outputs order_outputs(SavedWeights& saved, const std::vector<std::string>& here,
                      const std::string& layer);

/// The longest beginning of a name that `remap` knows is replaced.
void rename(std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& remap);

/// How a file's tensors fit a model's, by name.
struct WeightsFit {
  std::vector<std::string> taken;
  std::vector<std::string> replaced;    // another shape, and allowed to: the model's own stay
  std::vector<std::string> reshaped;    // another shape: what the file has and what the model wants
  std::vector<std::string> missing;     // not in the file
  std::vector<std::string> unexpected;  // only in the file
};

/// Copies what fits into `live`. Counters of batches that a batch norm has seen may be missing
/// (files before torch 0.4.1 have none). `last_layer` is the name before the dot of the layer whose
/// shape may differ; of the part `absent` (a name without its dot, may be empty) nothing need be in
/// the file.
WeightsFit take_weights(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
                        const std::string& last_layer, const std::vector<std::string>& absent = {});

/// Nothing when all fits; otherwise one sentence that names at most three tensors of each kind.
std::string misfit(const WeightsFit& fit);

/// Floating-point tensors are averaged in double and keep their type; whole numbers (counts of
/// batches) are the last one's. All must have the same names and shapes: an Error (Exit::data) says
/// which of `sources` differs, in what.
std::vector<NamedTensor> average_weights(const std::vector<std::vector<NamedTensor>>& models,
                                         const std::vector<std::string>& sources);

/// A tensor's shape for messages: "[64, 3, 7, 7]".
std::string shape_text(const at::Tensor& tensor);

}  // namespace ddptrain
