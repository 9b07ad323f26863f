// Files and folders that a recipe names.
#include <fmt/format.h>

#include "base/secrets.h"
#include "base/url.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

/// What to do instead of naming a URL.
std::string what_to_do(const std::string& url, const std::string& option) {
  if (url_scheme(url) == "file") return fmt::format("; write the path alone, '{}'", url.substr(7));
  if (option.starts_with("output."))
    return "; write to a folder here and copy runs when they have ended, or mount the bucket "
           "(s3fs, gcsfuse, rclone mount) and name its folder";
  if (option.starts_with("data.source")) return "; 'data.source.url' is what is fetched";
  return "; fetch it first ('data.source' fetches and checks an archive), or mount the bucket "
         "(s3fs, gcsfuse, rclone mount) and name its folder";
}

bool is_read(std::string_view scheme) {
  return scheme == "https" || scheme == "http" || scheme == "s3" || scheme == "gs";
}

/// Why an address cannot stand where addresses can; empty: it can.
std::string why_not_read(const WrittenPath& path) {
  const auto scheme = url_scheme(path.text);
  if (!is_read(scheme)) return "begins with none of https://, http://, s3:// and gs://";
  const bool listed = scheme == "s3" || scheme == "gs";
  if (path.address == AddressUse::folder && !listed)
    return "is a folder whose files are listed, which a web server does not do; read it from s3:// "
           "or gs://, or pack it into shards ('ddptrain data shards') and name these by a pattern, "
           "as in 'train-{000000..000099}.tar'";
  return {};
}

void paths_are_on_this_machine(const RuleContext& rule) {
  for (const auto& path : all_paths(rule.tree, rule.catalogs)) {
    const auto& [text, option, address] = path;
    if (option.starts_with("model.weights") || url_scheme(text).empty()) continue;
    const auto shown = fmt::format("'{}' ", without_passwords(text));
    if (address == AddressUse::none)
      rule.error(option, "{}is a URL, and files are read and written on this machine{}", shown,
                 what_to_do(text, option));
    else if (const auto why = why_not_read(path); !why.empty())
      rule.error(option, shown + why + (is_read(url_scheme(text)) ? "" : what_to_do(text, option)));
  }
}

/// Whether a path below `section` ("data") is an address.
bool has_address(const RuleContext& rule, const std::string& section) {
  for (const auto& [text, option, address] : all_paths(rule.tree, rule.catalogs))
    if (option.starts_with(section + ".") && address != AddressUse::none &&
        !url_scheme(text).empty())
      return true;
  return false;
}

/// The first option of data.store that is not its default; empty: none.
std::string chosen_in(const StoreSpec& store) {
  const StoreSpec usual;
  if (store.endpoint) return "data.store.endpoint";
  if (store.region) return "data.store.region";
  if (store.attempts != usual.attempts) return "data.store.attempts";
  if (store.timeout != usual.timeout) return "data.store.timeout";
  if (store.cache.folder) return "data.store.cache.folder";
  return store.cache.limit.bytes != usual.cache.limit.bytes ? "data.store.cache.limit" : "";
}

void stores_have_addresses(const RuleContext& rule) {
  const auto& store = rule.data.store;
  const bool address = has_address(rule, "data");
  if (const auto option = chosen_in(store); !option.empty() && !address)
    rule.error(option, "no path of 'data' is an address, such as s3://bucket/folder");
  if (rule.data.source && address)
    rule.error("data.source",
               "an archive is unpacked on this machine, and 'data' is read from an address");
  const auto scheme = url_scheme(store.endpoint.value_or("https://"));
  if (scheme != "https" && scheme != "http")
    rule.error("data.store.endpoint", "'{}' begins with neither https:// nor http://",
               without_passwords(*store.endpoint));
}

constexpr Rule kPathRules[] = {
    {{"local-path", "Files and folders are on this machine.",
      "A path such as s3://bucket/runs would become a folder called 's3:'. What 'data' reads may "
      "be an address (s3://, gs://, https://, http://), and data.source.url is fetched, with its "
      "digest.",
      "output: {dir: s3://bucket/runs}", "output: {dir: /mnt/bucket/runs}"},
     paths_are_on_this_machine},
    {{"store", "data.store is for data behind an address.",
      "How a store is requested and cached means nothing for files on this machine, and an archive "
      "is not unpacked into a store.",
      "data: {root: data/images, store: {region: eu-west-1}}",
      "data: {root: s3://bucket/images, store: {region: eu-west-1}}"},
     stores_have_addresses},
};

}  // namespace

std::vector<Rule> path_rules() { return {std::begin(kPathRules), std::end(kPathRules)}; }

}  // namespace ddptrain
