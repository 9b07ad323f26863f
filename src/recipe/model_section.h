// What every `model` section has, whatever its type. Torch-free; the models' catalogue adds these
// fields to each model's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace ddptrain {

/// Weights to start from: "file.pth", or a map.
struct WeightsSpec {
  std::string file;
  bool strict = true;
  std::map<std::string, std::string> remap;
  static constexpr std::string_view shorthand = "file";
  void fields(Fields& f);
};

struct ModelSection {
  std::optional<WeightsSpec> weights;
  std::vector<std::vector<std::string>> layer_groups;  // none: the model's own
  void fields(Fields& f);
};

}  // namespace ddptrain
