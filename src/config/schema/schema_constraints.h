// Constraints between options, as far as draft-07 of JSON Schema can say them.
#pragma once

#include "base/json.h"
#include "config/shape.h"

namespace ddptrain {

/// {"$ref": "#/definitions/NAME"}
Json reference_to(const std::string& name);

/// What an object that follows from a layer knows of its options: those that are not written may
/// be written in a weaker layer, or (`whole`) have their defaults.
enum class Absent { elsewhere, defaults };

/// A schema for each constraint of a record that JSON Schema can express: needs, always,
/// exactly_one and not_both. Numbers and lists are not compared in JSON Schema.
Json constraint_schemas(const Shape& record, Absent absent);

/// The definition "unset", which they refer to: null, false, 0 or empty.
Json unset_schema();

}  // namespace ddptrain
