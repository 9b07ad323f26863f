// Weights under the names of other libraries (models/name_table.h), read and written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/model.h"

namespace ddptrain {

/// What was done to tensors of a file for a model.
struct Published {
  std::optional<Library> from = {};  // whose names they had, if those are not the model's
  bool headless = false;             // and the file has nothing of the model's last layer
  std::string positions = {};        // "14 x 14 to 24 x 24" where those were resampled; or empty
};

/// Gives tensors the names and shapes that the model has, or the network whose part it has
/// (Model::borrowed_names), where more of them are what one of the model's tables says. Positions
/// of another image size are resampled (resampled_positions). `last_layer` is a name before its
/// dot. Throws an Error (Exit::data) where the network would not compute what that of the file
/// does: `architecture` is the latter's name there, or empty.
Published take_published_names(std::vector<NamedTensor>& tensors, const Model& model,
                               const std::string& last_layer, const std::string& architecture);

/// What the config.json next to weights, or in their folder, calls their network and their
/// training, as the Hugging Face Hub has it of timm's: "vit_base_patch32_clip_224.laion2b"; empty
/// where there is none.
std::string architecture_of(const std::string& path);

/// The libraries whose names are tried: "torchvision and timm"; empty: none has the network.
std::string libraries_of(const Model& model);

/// The weights of a whole network under a library's names. An Error (Exit::recipe) where it has no
/// such network.
std::vector<NamedTensor> published_as(Library library, const std::vector<NamedTensor>& weights,
                                      const Model& model);

}  // namespace ddptrain
