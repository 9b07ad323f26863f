// Files and folders that a recipe names.
#include "base/secrets.h"
#include "base/url.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

/// What to do instead of naming a URL.
std::string what_to_do(const std::string& url, const std::string& option) {
  if (url_scheme(url) == "file") return "; write the path alone, '" + url.substr(7) + "'";
  if (option.starts_with("output."))
    return "; write to a folder here and copy runs when they have ended, or mount the bucket "
           "(s3fs, "
           "gcsfuse, rclone mount) and name its folder";
  if (option.starts_with("data.source")) return "; 'data.source.url' is what is fetched";
  return "; fetch it first ('data.source' fetches and checks an archive), or mount the bucket "
         "(s3fs, gcsfuse, rclone mount) and name its folder";
}

void paths_are_on_this_machine(const RuleContext& rule) {
  for (const auto& [text, option] : all_paths(rule.tree, rule.catalogs)) {
    if (option.starts_with("model.weights") || url_scheme(text).empty()) continue;
    rule.error(option, "'" + without_passwords(text) +
                           "' is a URL, and files are read and written on this machine" +
                           what_to_do(text, option));
  }
}

constexpr Rule kPathRules[] = {
    {{"local-path", "Files and folders are on this machine.",
      "A path such as s3://bucket/runs would become a folder called 's3:'. Only data.source.url "
      "is fetched, with its digest.",
      "output: {dir: s3://bucket/runs}", "output: {dir: /mnt/bucket/runs}"},
     paths_are_on_this_machine},
};

}  // namespace

std::vector<Rule> path_rules() { return {std::begin(kPathRules), std::end(kPathRules)}; }

}  // namespace ddptrain
