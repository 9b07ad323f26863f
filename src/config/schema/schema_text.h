// A JSON Schema made small, and as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ddptrain {

/// What several components say alike of an option is said once, as the definition "option.KEY".
void share_options(nlohmann::ordered_json& schema);

/// A line for each section and component, so that a difference shows which changed.
std::string schema_text(const nlohmann::ordered_json& schema);

}  // namespace ddptrain
