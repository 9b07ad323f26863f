
#include "base/json.h"
#include "config/formats/problem_formats.h"

namespace ddptrain {
namespace {

Json or_null(int number) { return number > 0 ? Json(number) : Json(nullptr); }
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json start_of(const Place& place) {
  return {{"file", or_null(place.file)},
          {"line", or_null(place.line)},
          {"column", or_null(place.column)}};
}

Json object(const Problem& problem) {
  const auto& place = problem.place;
  auto object = start_of(place);
  object["end_column"] = or_null(place.column > 0 ? place.column + place.width : 0);
  object["severity"] = to_text(problem.severity);
  object["rule"] = problem.rule;
  object["path"] = or_null(problem.path);
  object["message"] = problem.message;
  if (!problem.suggestion.empty()) object["suggestion"] = problem.suggestion;
  for (const auto& from : problem.extended_from) object["extended_from"].push_back(start_of(from));
  return object;
}

}  // namespace

// Names of files may be no UTF-8.
std::string render_json(const Problems& problems) {
  auto list = Json::array();
  for (const auto& problem : sorted(problems)) list.push_back(object(problem));
  return lossy_json_text(list, 2, /*ascii=*/true) + "\n";
}

std::string render_jsonl(const Problems& problems) {
  std::string text;
  for (const auto& problem : sorted(problems))
    text += lossy_json_text(object(problem), -1, /*ascii=*/true) + "\n";
  return text;
}

}  // namespace ddptrain
