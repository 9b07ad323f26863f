// What every `model` section has, whatever its type; the models' catalog adds these fields to
// each model's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace ddptrain {

struct PublishedWeights;

/// Weights to start from: "file.pth", a name such as imagenet (weights/weights.h), or a map.
struct WeightsSpec {
  std::string file;
  std::optional<std::string> words;
  bool fetch = false;
  std::optional<std::string> sha256;
  bool strict = true;
  std::map<std::string, std::string> remap;
  bool allow_calls = false;
  static constexpr std::string_view shorthand = "file";
  void fields(Fields& f);
};

/// The model that files of weights are of: its body where it is made of one, or itself.
std::string weights_model(const ChoiceBase& model);

/// The published weights that the end of a path names, which has no ending; null where it does not.
const PublishedWeights* named_weights(const ChoiceBase& model, const std::string& file);

struct ModelSection {
  std::optional<WeightsSpec> weights;
  std::vector<std::vector<std::string>> layer_groups;  // none: the model's own
  void fields(Fields& f);
};

}  // namespace ddptrain
