// transformers.optimization.Adafactor's arguments as a recipe has them.
#pragma once

#include <nlohmann/json.hpp>

namespace ddptrain::golden {

/// Where there is no `lr`, relative_step makes it: a factor of 1 here.
inline nlohmann::json adafactor_of_transformers(const nlohmann::json& options) {
  nlohmann::json recipe{{"type", "adafactor"}, {"like", "transformers"}, {"lr", 1}};
  recipe["relative_step"] = true;
  for (const auto& [key, value] : options.items()) {
    if (value.is_null()) continue;
    if (key == "eps") {
      recipe["eps1"] = value.at(0);
      recipe["eps2"] = value.at(1);
    } else if (key == "clip_threshold") {
      recipe["d"] = value;
    } else {
      recipe[key == "decay_rate" ? "beta2_decay" : key] = value;
    }
  }
  return recipe;
}

}  // namespace ddptrain::golden
