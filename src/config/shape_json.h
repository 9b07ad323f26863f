// Shapes as JSON, so that a program which has none of the components' classes knows their options.
#pragma once

#include "base/json.h"
#include "config/shape.h"

namespace ddptrain {

/// The options of a record; what equals a fresh Shape's members is left out. Numbers and texts come
/// back as they were.
Json to_json(const Shape& shape);
Shape shape_from_json(const Json& json);

}  // namespace ddptrain
