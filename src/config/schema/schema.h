// The JSON Schema of a recipe file, for editors: generated from shapes, never written by hand.
#pragma once

#include <string>

#include "base/json.h"
#include "config/shape.h"

namespace ddptrain {

/// Draft 7. A file is one layer of a recipe, so nothing is required in it; any value may be a
/// reference such as ${env:NAME}.
std::string json_schema(const Shape& recipe, const Catalogs& catalogs);

/// What several components declare alike of an option stands once, as the definition "option.KEY".
void share_options(Json& schema);

/// A line for each section and component, so that a difference shows which changed.
std::string schema_text(const Json& schema);

}  // namespace ddptrain
