// Configurations of Accelerate and DeepSpeed as keys of a recipe: `init --from`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/node.h"

namespace ddptrain {

/// What came along, and what did not, with the reason.
struct ForeignConfig {
  std::string tool;                                       // "Accelerate"
  std::vector<std::pair<std::string, std::string>> keys;  // "parallel.mode", "fsdp"
  std::vector<std::pair<std::string, std::string>> left;  // "fsdp_config.fsdp_version", why
};

/// Of the tree of `accelerate config`'s YAML or of DeepSpeed's JSON, recognized by their keys.
/// An Error (Exit::recipe) if it is neither.
ForeignConfig foreign_config(const Node& tree, const std::string& file);

/// A recipe of those keys, which a complete one can be run with: `ddptrain run R.yaml FILE`. What
/// did not come along stands in comments.
std::string foreign_recipe(const ForeignConfig& config, const std::string& file);

}  // namespace ddptrain
