#include "runs/state_json.h"

#include "base/error.h"
#include "base/files/files.h"
#include "runs/json_fields.h"

namespace ddptrain {

std::string to_text(const SavedState& state) { return json_text(ToJson::value(state), 2) + "\n"; }

SavedState saved_state_of(const std::string& text) {
  auto state = record_of<SavedState>(text, kStateJson);
  const auto ours = SavedState().format;
  if (state.format > ours)
    throw Error(Exit::data,
                "{} of a checkpoint has format {} and needs a newer ddptrain; this one reads up to "
                "format {}",
                kStateJson, state.format, ours);
  return state;
}

SavedState read_saved_state(const std::string& checkpoint) {
  return saved_state_of(read_text(checkpoint + "/" + kStateJson));
}

SavedNames saved_names(const std::string& text) {
  SavedState state;
  const auto json = json_or_null(text);
  if (!json.is_object()) return state.names;
  FromJson members(json, FromJson::Keys::any);
  fields(state, members);
  return state.names;
}

std::vector<std::pair<std::string, std::string>> listed(const RunEnvironment& environment) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto json = ToJson::value(environment);
  for (const auto& [key, value] : json.items()) all.emplace_back(key, json_text(value));
  return all;
}

}  // namespace ddptrain
