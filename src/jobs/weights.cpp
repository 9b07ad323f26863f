// `weights get MODEL [NAME]` and `weights check`: files of published weights.
#include "weights/weights.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/verb.h"
#include "jobs/published.h"
#include "sources/fetch/file.h"
#include "weights/folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// The digest that the user gives; empty where none.
std::string given_digest(const Arguments& arguments) {
  const auto digest = lower(arguments.value("--sha256"));
  const bool hexadecimal = digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (arguments.has("--sha256") && (digest.size() != 64 || !hexadecimal))
    throw Error(Exit::recipe, "--sha256: '{}' has not 64 digits of 0-9 and a-f", digest);
  return digest;
}

/// `get MODEL` takes what `imagenet` stands for, or all that there is where that is one.
const PublishedWeights& chosen_weights(const std::vector<std::string>& words) {
  const auto& model = words[1];
  const auto rows = weights_of(model);
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
    log::info("only the first {} digits of its sha256 are published, and compared",
              weights.sha256.size());
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
    found = fmt::format("sha256 is {} and should begin with {}", digest, weights.sha256);
  else if (!as_it_came)
    found = fmt::format("sha256 is {} and was {} when it came", digest, noted);
  else if (noted.empty() && weights.sha256.empty())
    found = fmt::format("sha256 is {}, and no expected digest is known", digest);
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

}  // namespace

/// For the verb `weights` (cli/program.h).
int weights_files(const Arguments& arguments) {
  return arguments.words[0] == "get" ? get_weights(arguments) : check_weights(arguments);
}

}  // namespace ddptrain
