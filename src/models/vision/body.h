// The layers of a network before its pooling, for a head of another kind (fastai's create_body).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/layers/chain.h"

namespace ddptrain {

/// `layers` [rows, channels, height, width] to [rows, features, h, w] or, where `pooled` says how
/// many, to [rows, features]; named by their numbers. `groups` are its layer groups; `names` says
/// what beginnings of the network's names became, and `tables` how other libraries call those.
struct Body {
  std::unique_ptr<Sequence> layers = std::make_unique<Sequence>();
  std::vector<std::vector<Module*>> groups;
  std::map<std::string, std::string> names;
  std::vector<NameTable> tables;
  std::string positions;                 // Model::patch_positions, by its name in the body
  std::optional<std::int64_t> pooled;    // features, which have no places
  std::optional<std::int64_t> channels;  // of the last map; none: depths_of finds them
  std::optional<std::size_t> middle;     // step after which torchvision's heads for pixels have an
                                         // auxiliary classifier

  /// Appends what was the network's child `name`.
  void append(const std::string& name, std::unique_ptr<Module> child);
  /// Two groups: the first `first` of the modules, and the others.
  void divide(const std::vector<Module*>& modules, std::size_t first);
};

/// The body of a network that a recipe names under `body`, which has the trait "body" and no
/// options of a head, or the trait "lends_features": features of one depth, for a head that needs
/// no others; with the first weights that the network has where torchvision builds it.
Body body_of(const Choice<Model>& network, const ModelContext& context);

/// `names` of a body whose layers are the model's part `path`.
std::map<std::string, std::string> names_below(const std::string& path,
                                               const std::map<std::string, std::string>& names);

/// Channels of the images that a body takes.
std::int64_t image_channels(const Sequence& layers);

/// Where a head can take features from a body: after the last of the steps that give the same
/// height and width.
struct Depth {
  std::size_t step = 0;        // of the body's chain, from 0
  std::int64_t reduction = 1;  // height and width of an image over those of the features
  std::int64_t channels = 0;
};

/// The depths of a body for images with `channels`, from large features to small ones; the last one
/// is its end. One image of zeros finds them, larger where it is too small for the layers.
std::vector<Depth> depths_of(Sequence& layers, std::int64_t channels);

/// One forward pass that gives the features at each of its depths, [rows, channels, height, width];
/// the last ones are what `layers` gives.
std::vector<at::Tensor> features_at(const std::vector<Depth>& depths, Sequence& layers,
                                    const at::Tensor& input, const Pass& pass);

}  // namespace ddptrain
