#include "base/json.h"

namespace ddptrain {

Json parse_json(std::string_view text) { return Json::parse(text); }

Json json_or_null(std::string_view text) {
  auto json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

std::string json_text(const Json& json, int indent) { return json.dump(indent); }

std::string lossy_json_text(const Json& json, int indent, bool ascii) {
  return json.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

}  // namespace ddptrain
