// Weights that others published for models of the catalog, by name.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// How images are prepared for weights: the shorter side to `resize` pixels, the middle `crop`,
/// then `normalize` with these values.
struct Preprocessing {
  int resize = 256;
  int crop = 224;
  std::string_view interpolation = "bilinear";
  std::array<double, 3> mean{0.485, 0.456, 0.406};
  std::array<double, 3> deviation{0.229, 0.224, 0.225};
};

struct PublishedWeights {
  std::string_view model;      // of the catalog
  std::string_view name;       // what recipes write for `model.weights`
  std::string_view publisher;  // torchvision, timm or fastai
  std::string url{};
  std::string_view sha256{};     // of the file, or its first digits; empty: none is published
  double mebibytes = 0;          // of the file, about; 0: not known
  std::optional<double> top1{};  // per cent of ImageNet-1K's validation images; none: not stated
  std::optional<Preprocessing> prepared{};  // of images
  std::string_view license{};
  bool license_is_of_code = false;  // that of the publisher's code: none of the weights is stated
  std::string license_source{};     // the page that states it; empty: not confirmed
  bool is_default = false;          // what `model.weights: imagenet` stands for
  bool is_archive = false;          // which `model.weights` cannot read
};

/// "resnet34-b627a593.pth": the end of the address.
std::string file_name(const PublishedWeights& weights);

const std::vector<PublishedWeights>& published_weights();

/// Those of a model, or of all where it is empty; an Error (Exit::recipe) where there are none.
std::vector<PublishedWeights> weights_of(const std::string& model);

/// Those of a model by name, of which `imagenet` is the default; null where there are none.
const PublishedWeights* find_weights(std::string_view model, std::string_view name);

/// What may be written for a model, `imagenet` first where it has a default; none where nothing is
/// published.
std::vector<std::string> weights_names(std::string_view model);

/// "resnet34 imagenet1k_v1 (torchvision)".
std::string text_of(const PublishedWeights& weights);

/// Why there are none, with suggestions: "'resnet18' has no weights 'imagnet'; did you mean ...".
std::string no_such_weights(const std::string& model, const std::string& name);

}  // namespace ddptrain
