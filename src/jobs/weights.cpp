// `weights list [MODEL]`, `weights get MODEL [NAME]` and `weights check`: published weights.
#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/verb.h"
#include "jobs/published.h"
#include "sources/fetch/file.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr Flag kFormat{"--format", "text|json", "of list (default text)"};

bool is_here(const PublishedWeights& weights) { return fs::exists(weights_path(weights)); }

/// Rows of a model, or all; an Error where there is nothing about the model.
std::vector<PublishedWeights> weights_rows(const std::string& model) {
  std::vector<PublishedWeights> rows;
  std::vector<std::string> models;
  for (const auto& weights : published_weights()) {
    if (model.empty() || weights.model == model) rows.push_back(weights);
    models.emplace_back(weights.model);
  }
  if (rows.empty())
    throw Error(Exit::recipe, "no weights of '" + model + "' are known" +
                                  did_you_mean(nearest(model, models),
                                               "; 'ddptrain weights list' shows of which models"));
  return rows;
}

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
  const auto rows = weights_rows(arguments.words.size() > 1 ? arguments.words[1] : "");
  if (arguments.chosen(kFormat) == 1) {
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

/// The digest that the user gives; empty where none.
std::string given_digest(const Arguments& arguments) {
  const auto digest = lower(arguments.value("--sha256"));
  const bool hexadecimal = digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (arguments.has("--sha256") && (digest.size() != 64 || !hexadecimal))
    throw Error(Exit::recipe, "--sha256: '" + digest + "' has not 64 digits of 0-9 and a-f");
  return digest;
}

/// `get MODEL` takes what `imagenet` stands for, or all that there is where that is one.
const PublishedWeights& chosen_weights(const std::vector<std::string>& words) {
  const auto& model = words[1];
  const auto rows = weights_rows(model);
  const auto name = words.size() > 2   ? words[2]
                    : rows.size() == 1 ? std::string(rows[0].name)
                                       : std::string("imagenet");
  if (const auto* weights = find_weights(model, name)) return *weights;
  throw Error(Exit::recipe, no_such_weights(model, name));
}

int get_weights(const Arguments& arguments) {
  if (arguments.words.size() < 2)
    throw Error(Exit::recipe, "usage: ddptrain weights get MODEL [NAME]");
  const auto& weights = chosen_weights(arguments.words);
  const auto digest = given_digest(arguments);
  std::optional<std::string> file;
  if (arguments.has("--file")) file = arguments.value("--file");
  const bool missing = provide_weights(weights, digest, file);
  log::info(text_of(weights) + (missing ? " is in " : " is already in ") + weights_path(weights));
  if (missing && digest.empty() && weights.sha256.size() < 64)
    log::info(fmt::format("only the first {} digits of its sha256 are published, and compared",
                          weights.sha256.size()));
  return 0;
}

/// The digest that was compared when the file came; empty where nothing notes it.
std::string noted_digest(const std::string& path) {
  const auto note = path + ".sha256";
  if (!fs::exists(note)) return {};
  const auto text = read_text(note);
  return text.substr(0, text.find(' '));
}

/// A line about a file that is there; whether it is as it should be.
bool check_file(const PublishedWeights& weights) {
  const auto path = weights_path(weights);
  const auto digest = digest_file(DigestKind::sha256, path);
  const auto noted = noted_digest(path);
  const bool as_it_came = noted.empty() || noted == digest;
  const bool as_published = weights.sha256.empty() || is_digest(digest, weights.sha256);
  std::string found = "good";
  if (!as_published)
    found = "sha256 is " + digest + " and should begin with " + std::string(weights.sha256);
  else if (!as_it_came)
    found = "sha256 is " + digest + " and was " + noted + " when it came";
  else if (noted.empty() && weights.sha256.empty())
    found = "sha256 is " + digest + ", and no expected digest is known";
  print_shown("%s: %s\n", path.c_str(), found.c_str());
  return as_it_came && as_published;
}

int check_weights(const Arguments&) {
  std::int64_t there = 0, bad = 0;
  for (const auto& weights : published_weights())
    if (is_here(weights)) {
      ++there;
      if (!check_file(weights)) ++bad;
    }
  print_shown("%s in %s, %s bad\n", plural(there, "file").c_str(), weights_folder().c_str(),
              std::to_string(bad).c_str());
  return static_cast<int>(bad > 0 ? Exit::data : Exit::done);
}

int weights_action(const Arguments& arguments) {
  const auto& action = arguments.words[0];
  if (action == "list") return list_weights(arguments);
  if (action == "get") return get_weights(arguments);
  if (action == "check") return check_weights(arguments);
  throw Error(Exit::recipe, "'weights' has no action '" + action + "'" +
                                did_you_mean(nearest(action, {"list", "get", "check"}),
                                             "; there are list, get, check"));
}

}  // namespace

Verb weights_verb() {
  return {.name = "weights",
          .usage = "list [MODEL] | get MODEL [NAME] | check",
          .summary = "published weights that model.weights names: show, fetch, compare digests",
          .flags = {kFormat,
                    {"--sha256", "DIGEST", "of get: what the file's has to be"},
                    {"--file", "FILE", "of get: take it from here instead of fetching it"}},
          .min_words = 1,
          .max_words = 3,
          .run = weights_action};
}

}  // namespace ddptrain
