#include "config/schema/schema_words.h"

#include "config/option_text.h"

namespace ddptrain {

std::string option_markdown(const Shape& shape, const std::string& initial) {
  auto text = shape.doc + "\n\n" + type_text(shape);
  if (shape.required) text += "; required";
  if (!initial.empty()) text += "; default `" + initial + "`";
  if (!shape.example.empty()) text += "; for example `" + shape.example + "`";
  return text;
}

std::string component_link(const std::string& kind, const EntryBase& entry) {
  return "`ddptrain describe " + kind + " " + entry.name + "`";
}

}  // namespace ddptrain
