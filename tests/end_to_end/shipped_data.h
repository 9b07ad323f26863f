// Every shipped recipe on small synthetic data: scripts/gpu_check/shipped.json, and the data that
// scripts/gpu_check/made_data.py makes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ddptrain::end_to_end {

/// All of shipped.json; its "about" says what is in it.
const nlohmann::json& shipped_table();

/// The overrides "set" of a recipe, with names of several written out and the data's folder in
/// them.
std::vector<std::string> shipped_overrides(const nlohmann::json& how);

}  // namespace ddptrain::end_to_end
