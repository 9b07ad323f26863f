// Options in words: what `describe`, `show --why` and the reference say of each.
#pragma once

#include <string>
#include <vector>

#include "config/catalog.h"
#include "config/shape.h"

namespace ddptrain {

/// "an optimizer", "a model"; the kind `data` holds datasets.
std::string a_component(const std::string& kind);

/// "number, above 0, at most 1", "path, or null", "fp64 | fp32": type, range, unit and other words.
std::string type_text(const Shape& shape);

/// "default 0.001", "default [0.9, 0.99]"; "required" where there is none, and nothing for a map
/// whose options have their own.
std::string default_text(const Shape& shape);

/// What must hold between the options of a record, a sentence each.
std::vector<std::string> constraint_texts(const Shape& record);

/// The sentence, then type, range, unit, and the default, which is empty where there is none:
/// "Peak learning rate.\n\nnumber, at least 0; default `0.1`".
std::string option_markdown(const Shape& shape, const std::string& initial);

/// The command that prints more about the component.
std::string component_link(const std::string& kind, const EntryBase& entry);

}  // namespace ddptrain
