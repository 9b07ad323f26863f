// What every `model` section has, whatever its type. Torch-free; the models' catalogue adds these
// fields to each model's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

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
  void fields(Fields& f);
};

}  // namespace ddptrain
