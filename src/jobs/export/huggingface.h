// A folder that transformers opens: config.json and model.safetensors.
#pragma once

#include <string>
#include <vector>

#include "models/model.h"

namespace ddptrain {

/// Writes the weights of a model, without the further names of a tensor, and what
/// Model::published_config() says. An Error (Exit::recipe) where transformers has no such network.
void write_huggingface_folder(const std::string& folder, const Model& model,
                              const std::vector<NamedTensor>& weights);

}  // namespace ddptrain
