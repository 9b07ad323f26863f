// Weights in files: of another run or program as the start of a model, and the mean of several.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "checkpoint/pytorch/torch_file.h"
#include "checkpoint/safetensors.h"
#include "models/module.h"
#include "runs/state_json.h"

namespace ddptrain {

/// Tensors of a .safetensors file, of several that a model.safetensors.index.json lists, of a file
/// that torch.save wrote, or of such files in a folder, a checkpoint's, or that of a run's newest
/// one. Safetensors are mapped (checkpoint/safetensors.h). Throws an Error (Exit::data).
std::vector<NamedTensor> read_weights(const std::string& path, Calls calls = Calls::refused);

/// With what their rows stand for: of the checkpoint that a file lies in, or in its header
/// (export).
struct SavedWeights {
  std::vector<NamedTensor> tensors;
  SavedNames names;
};
SavedWeights read_saved_weights(const std::string& path, Calls calls = Calls::refused);

/// The header of a .safetensors file whose tensors have these names of rows.
std::map<std::string, std::string> header_of(const SavedNames& names);

/// The longest beginning of a name that `remap` knows is replaced.
void rename(std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& remap);

/// How a file's tensors fit a model's, by name.
struct WeightsFit {
  std::vector<std::string> taken;
  std::vector<NamedTensor> values;      // of those, as the file has them
  std::vector<std::string> replaced;    // another shape, and allowed to: the model's own stay
  std::vector<std::string> reshaped;    // another shape: what the file has and what the model wants
  std::vector<std::string> missing;     // not in the file
  std::vector<std::string> unexpected;  // only in the file
};

/// Whether a file may lack a tensor of this name, which then keeps its first values: the codes of
/// words (models/text/bag_of_embeddings.cpp), which files of older versions do not have.
bool may_be_missing(const std::string& name);

/// What of `saved` fits `live`, whose values are not looked at. Counters of batches that a batch
/// norm has seen may be missing (files before torch 0.4.1 have none). Of the layers `last_layers`,
/// names before the dot, the shape may differ; the tensors `absent`, and all below such a name,
/// need not be in the file.
WeightsFit fit_weights(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
                       const std::vector<std::string>& last_layers,
                       const std::vector<std::string>& absent = {});

/// Copies it, too. An Error (Exit::data) where a mapped file was cut meanwhile: what was copied is
/// then no file's.
WeightsFit take_weights(const std::vector<NamedTensor>& saved, const std::vector<NamedTensor>& live,
                        const std::vector<std::string>& last_layers,
                        const std::vector<std::string>& absent = {});

/// fastai's files of before its version 2 keep the weights that WeightDropout drops twice,
/// "module.weight_hh_l0" and "weight_hh_l0_raw": the first falls away
/// (fastai.text.learner.clean_raw_keys).
void drop_raw_copies(std::vector<NamedTensor>& tensors);

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
