#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/json.h"
#include "base/version.h"
#include "config/formats/percent.h"
#include "config/formats/problem_formats.h"

namespace ddptrain {
namespace {

// RFC 3986, 2.3: unreserved characters.
std::string uri_path(const std::string& path) {
  constexpr std::string_view marks = "-._~/";
  return percent_encoded(path, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           marks.find(c) != std::string_view::npos;
  });
}

/// Relative to the current folder, which CI sets to the repository's; a file outside is absolute.
std::string uri_of(const std::string& file) {
  namespace fs = std::filesystem;
  const auto whole = fs::absolute(file).lexically_normal();
  const auto relative = whole.lexically_relative(fs::current_path());
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return inside ? uri_path(relative.string()) : "file://" + uri_path(whole.string());
}

Json artifact(const Place& place) {
  return {{"uri", in_file(place) ? uri_of(place.file) : uri_path(place.file)}};
}

Json region_of(const Place& place) {
  return {{"startLine", place.line},
          {"startColumn", place.column},
          {"endColumn", place.column + place.width}};
}

Json location_of(const Place& place) {
  Json physical{{"artifactLocation", artifact(place)}};
  if (in_file(place)) physical["region"] = region_of(place);
  return {{"physicalLocation", physical}};
}

Json text(std::string_view words) { return {{"text", words}}; }

/// The place and the option; neither where the problem has none.
Json locations_of(const Problem& problem) {
  Json location = Json::object();
  if (!problem.place.file.empty()) location = location_of(problem.place);
  if (!problem.path.empty())
    location["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", problem.path}, {"kind", "member"}}});
  return location.empty() ? Json::array() : Json::array({location});
}

Json chain_of(const Problem& problem) {
  Json related = Json::array();
  for (const auto& place : problem.extended_from) {
    auto location = location_of(place);
    location["message"] = text("extended from here");
    related.push_back(location);
  }
  return related;
}

Json fix_of(const Problem& problem) {
  const Json replacement{{"deletedRegion", region_of(problem.place)},
                         {"insertedContent", text(problem.suggestion)}};
  const Json change{{"artifactLocation", artifact(problem.place)},
                    {"replacements", Json::array({replacement})}};
  return {{"description", text(fmt::format("write '{}'", problem.suggestion))},
          {"artifactChanges", Json::array({change})}};
}

Json result(const Problem& problem, std::size_t rule) {
  const auto& place = problem.place;
  const bool bare = in_file(place) || place.file.empty();
  const auto where = bare ? "" : to_text(place) + ": ";
  Json result{{"ruleId", problem.rule},
              {"ruleIndex", rule},
              {"level", to_text(problem.severity)},
              {"message", text(where + full_message(problem))},
              {"locations", locations_of(problem)}};
  if (!problem.extended_from.empty()) result["relatedLocations"] = chain_of(problem);
  if (!problem.suggestion.empty() && in_file(place))
    result["fixes"] = Json::array({fix_of(problem)});
  return result;
}

/// The reason and both examples; in Markdown they are blocks.
std::string help_of(const RuleDoc& rule, bool markdown) {
  auto help = std::string(rule.why);
  const auto block = [&](const std::string& title, std::string_view yaml) {
    if (yaml.ends_with('\n')) yaml.remove_suffix(1);
    const auto shown = std::string(yaml);
    help += fmt::format("\n\n{}\n\n{}", title, markdown ? "```yaml\n" + shown + "\n```" : shown);
  };
  if (!rule.wrong.empty()) block("Wrong:", rule.wrong);
  if (!rule.right.empty()) block("Right:", rule.right);
  return help;
}

Json descriptor(const std::string& id, const std::vector<const RuleDoc*>& documents) {
  Json rule{{"id", id}};
  const auto found = std::find_if(documents.begin(), documents.end(),
                                  [&](const RuleDoc* document) { return document->id == id; });
  if (found == documents.end()) return rule;
  rule["shortDescription"] = text((*found)->summary);
  rule["fullDescription"] = text((*found)->why);
  rule["help"] = text(help_of(**found, false));
  rule["help"]["markdown"] = help_of(**found, true);
  return rule;
}

}  // namespace

std::string render_sarif(const Problems& problems, const std::vector<const RuleDoc*>& documents) {
  std::vector<std::string> ids;
  Json rules = Json::array(), results = Json::array();
  for (const auto& problem : sorted(problems)) {
    auto at = std::find(ids.begin(), ids.end(), problem.rule);
    if (at == ids.end()) {
      at = ids.insert(ids.end(), problem.rule);
      rules.push_back(descriptor(problem.rule, documents));
    }
    results.push_back(result(problem, static_cast<std::size_t>(at - ids.begin())));
  }
  const Json driver{{"name", "ddptrain"}, {"version", version()}, {"rules", rules}};
  const Json run{
      {"tool", {{"driver", driver}}}, {"columnKind", "unicodeCodePoints"}, {"results", results}};
  const Json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", Json::array({run})}};
  return lossy_json_text(log, 2, /*ascii=*/true) + "\n";
}

}  // namespace ddptrain
