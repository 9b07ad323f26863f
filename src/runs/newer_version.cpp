#include "runs/newer_version.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "base/version.h"
#include "recipe/run_folders.h"
#include "runs/run_json.h"

namespace ddptrain {
namespace {

/// The first two numbers of "0.1.0"; those of what is no version are the lowest.
std::pair<std::int64_t, std::int64_t> release_of(const std::string& version) {
  const auto parts = split(version, '.');
  if (parts.size() < 2) return {};
  return {parse_integer(parts[0]).value_or(0), parse_integer(parts[1]).value_or(0)};
}

}  // namespace

void refuse_newer_run(const std::string& folder) {
  const auto file = folder + "/" + kRunJson;
  if (!std::filesystem::exists(file)) return;
  const auto run = run_json_of(read_text(file));
  if (!run) return;
  const auto theirs = run->ddptrain.value_or("");
  if (run->format <= RunJson().format && release_of(theirs) <= release_of(version())) return;
  throw Error(Exit::data,
              "'{}' was written by ddptrain {} and cannot be read by this one, {}; install a "
              "version that is at least as new",
              folder, theirs.empty() ? "of a newer version" : shown(theirs), version());
}

}  // namespace ddptrain
