// What an unquoted scalar means: our own rules, a subset of YAML 1.2's core schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/node.h"

namespace ddptrain {

/// What a scalar reads as: quotes make text, otherwise true|false, a decimal number, or text.
enum class ScalarKind { boolean, number, text };
ScalarKind scalar_kind(const Node& scalar);

/// "null", "~" or nothing.
bool is_null_text(std::string_view text);

/// The value, or nothing and in `why` what it is and what to write ("'yes' is not a switch; write
/// true or false"). `1e3` is an integer too; `010`, `0x10`, `1_000`, `.inf` are refused.
std::optional<bool> read_boolean(const Node& node, std::string& why);
std::optional<std::int64_t> read_integer(const Node& node, std::string& why);
std::optional<double> read_number(const Node& node, std::string& why);
std::optional<std::string> read_text(const Node& node, std::string& why);

/// "a list", "'fast'", "the text \"5\"", for messages.
std::string describe(const Node& node);

}  // namespace ddptrain
