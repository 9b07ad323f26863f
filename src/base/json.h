#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ddptrain {

/// An object's keys stay in the order in which they were added. Finding one takes as long as there
/// are keys: a tokenizer's vocabulary is a `nlohmann::json`.
using Json = nlohmann::ordered_json;

/// @throws Json::parse_error where `text` is not JSON.
Json parse_json(std::string_view text);

/// Null where `text` is not JSON.
Json json_or_null(std::string_view text);

/// In one line, or with `indent` spaces for each level (0 or more).
/// @throws Json::type_error where a string is not UTF-8.
std::string json_text(const Json& json, int indent = -1);

/// The same for people and other programs: bytes that are not UTF-8 become U+FFFD. `ascii`: others
/// than ASCII are written as \u escapes.
std::string lossy_json_text(const Json& json, int indent = -1, bool ascii = false);

}  // namespace ddptrain
