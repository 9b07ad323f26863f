// `weights list [MODEL]`, `weights get MODEL [NAME]` and `weights check`: published weights.
#include "weights/weights.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/program.h"
#include "weights/folder.h"

namespace ddptrain {
namespace {

constexpr Flag kWeightsFormat{"--format", "text|json", "of list (default text)"};

std::vector<std::string> weights_line(const PublishedWeights& weights) {
  return {std::string(weights.model),
          std::string(weights.name) + (weights.is_default ? ", imagenet" : ""),
          weights.top1 ? format_number(*weights.top1) : "-",
          weights.mebibytes > 0
              ? format_bytes(static_cast<std::int64_t>(weights.mebibytes * (1 << 20)))
              : "-",
          std::string(weights.publisher),
          std::string(weights.license) + (weights.license_is_of_code ? " (code)" : ""),
          is_here(weights) ? "here" : "-"};
}

Json json_of(const std::optional<Preprocessing>& prepared) {
  if (!prepared) return {};
  return {{"resize", prepared->resize},
          {"crop", prepared->crop},
          {"interpolation", prepared->interpolation},
          {"mean", prepared->mean},
          {"std", prepared->deviation}};
}

Json json_of(const PublishedWeights& weights) {
  return {
      {"model", weights.model},
      {"name", weights.name},
      {"default", weights.is_default},
      {"publisher", weights.publisher},
      {"license", weights.license},
      {"license_of", weights.license_is_of_code ? "code" : "weights"},
      {"license_source", weights.license_source.empty() ? Json() : Json(weights.license_source)},
      {"url", weights.url},
      {"file", file_name(weights)},
      {"sha256", weights.sha256.empty() ? Json() : Json(weights.sha256)},
      {"mebibytes", weights.mebibytes > 0 ? Json(weights.mebibytes) : Json()},
      {"top1", weights.top1 ? Json(*weights.top1) : Json()},
      {"preprocessing", json_of(weights.prepared)},
      {"path", is_here(weights) ? Json(weights_path(weights)) : Json()}};
}

int list_weights(const Arguments& arguments) {
  const auto rows = weights_of(arguments.words.size() > 1 ? arguments.words[1] : "");
  if (arguments.chosen(kWeightsFormat) == 1) {
    Json all = Json::array();
    for (const auto& weights : rows) all.push_back(json_of(weights));
    print_exact(json_text(all, 2) + "\n");
    return 0;
  }
  std::vector<std::vector<std::string>> lines{
      {"model", "weights", "top-1", "size", "publisher", "license", ""}};
  for (const auto& weights : rows) lines.push_back(weights_line(weights));
  print_table(lines);
  print_shown("here: in %s\n", weights_folder().c_str());
  return 0;
}

int on_files(const Arguments& arguments) {
  const auto& program = *arguments.program;
  return program.weights_files
             ? program.weights_files(arguments)
             : program.in_engine(arguments, fmt::format("'weights {}'", arguments.words[0]));
}

int weights_action(const Arguments& arguments) {
  const auto& action = arguments.words[0];
  if (action == "list") return list_weights(arguments);
  if (action == "get" || action == "check") return on_files(arguments);
  throw Error(
      Exit::recipe, "'weights' has no action '{}'{}", action,
      did_you_mean(nearest(action, {"list", "get", "check"}), "; there are list, get, check"));
}

}  // namespace

Verb weights_verb() {
  return {.name = "weights",
          .usage = "list [MODEL] | get MODEL [NAME] | check",
          .summary = "published weights that model.weights names: show, fetch, compare digests",
          .flags = {kWeightsFormat,
                    {"--sha256", "DIGEST", "of get: what the file's has to be"},
                    {"--file", "FILE", "of get: take it from here instead of fetching it"}},
          .min_words = 1,
          .max_words = 3,
          .run = weights_action};
}

}  // namespace ddptrain
