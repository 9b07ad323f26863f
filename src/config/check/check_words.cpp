#include "config/check/check_words.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "config/option_text.h"

namespace ddptrain {

std::string as_clause(std::string doc) {
  if (doc.ends_with('.')) doc.pop_back();
  const bool word = doc.size() > 1 && std::islower(static_cast<unsigned char>(doc[1]));
  if (word) doc[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(doc[0])));
  return doc;
}

std::string expected(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::boolean:
      return "true or false";
    case Shape::Kind::integer:
      return "an integer";
    case Shape::Kind::number:
      return "a number";
    case Shape::Kind::text:
      return "text";
    case Shape::Kind::duration:
      return shape.unit.empty() ? "a duration such as '5 epochs'" : "a time such as '5 min'";
    case Shape::Kind::size:
      return "a size such as '64 MiB'";
    case Shape::Kind::share:
      return "a share such as '75 %'";
    case Shape::Kind::word:
      return "one of " + join(shape.words, ", ");
    case Shape::Kind::list:
      return "a list";
    case Shape::Kind::component:
      return a_component(shape.component) + ", {type: ...} with its options,";
    default:
      return "a map";
  }
}

bool means_null(const Node& node) {
  const auto text = node.is_scalar() ? lower(node.text) : "";
  return text == "none" || text == "null" || text == "nil" || text == "no" || text == "off" ||
         text == "false";
}

bool lacks_space(const std::string& text, const std::vector<std::string>& keys) {
  const auto colon = text.find(':');
  return colon != std::string::npos &&
         std::find(keys.begin(), keys.end(), text.substr(0, colon)) != keys.end();
}

std::string only_name(const std::vector<std::string>& names) {
  return names.size() == 1 ? names[0] : "";
}

}  // namespace ddptrain
