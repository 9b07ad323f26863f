// `cache [list]` and `cache clear [KIND...]`: what is kept outside of run folders.
#include <fmt/format.h>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/json.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/cache/cache_kinds.h"
#include "cli/program.h"

namespace ddptrain {
namespace {

constexpr Flag kCacheFormat{"--format", "text|json", "of list (default text)"};

/// "2026-03-01T12:34:56Z"
std::string utc_text(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

struct KeptKind {
  CacheKind kind;
  KeptAmount amount;
};

std::vector<KeptKind> all_kept() {
  std::vector<KeptKind> all;
  for (const auto& kind : cache_kinds()) all.push_back({kind, kept(kind)});
  const CacheKind others{.name = "other",
                         .what = "not of this version, and never cleared",
                         .again = "-",
                         .place = cache_folder};
  all.push_back({others, kept_by_others()});
  std::erase_if(all, [](const KeptKind& each) { return each.amount.files == 0; });
  return all;
}

void print_kept_json(const std::vector<KeptKind>& all) {
  Json list = Json::array();
  for (const auto& [kind, amount] : all)
    list.push_back({{"kind", kind.name},
                    {"what", kind.what},
                    {"path", kind.place()},
                    {"files", amount.files},
                    {"bytes", amount.bytes},
                    {"last_used", utc_text(amount.used)},
                    {"made_again_by", kind.again},
                    {"only_cleared_by_name", !kind.when_needed}});
  print_exact(lossy_json_text(list, 2) + "\n");
}

int list_kept(const Arguments& arguments) {
  const auto all = all_kept();
  if (arguments.chosen(kCacheFormat) == 1) return print_kept_json(all), 0;
  if (all.empty()) return print_shown("nothing is kept in %s\n", cache_folder().c_str()), 0;
  std::vector<std::vector<std::string>> lines{
      {"kind", "what", "files", "size", "last used", "made again by", "where"}};
  KeptAmount total;
  for (const auto& [kind, amount] : all) {
    total.add(amount);
    lines.push_back({std::string(kind.name), std::string(kind.what), std::to_string(amount.files),
                     format_bytes(amount.bytes), utc_text(amount.used), std::string(kind.again),
                     kind.place()});
  }
  print_table(lines);
  print_shown("total: %s, %s\n", plural(total.files, "file").c_str(),
              format_bytes(total.bytes).c_str());
  return 0;
}

const CacheKind& kind_named(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& kind : cache_kinds()) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  throw Error(Exit::recipe, "'{}' is not a kind of cache{}", name,
              did_you_mean(nearest(name, names), "; there are " + join(names, ", ")));
}

void print_cleared(const CacheKind& kind, const ClearedKind& cleared) {
  auto text = plural(cleared.removed.files, "file") + " removed";
  if (cleared.in_use.files > 0)
    text += fmt::format(", {} ({}) in use{}", plural(cleared.in_use.files, "file"),
                        format_bytes(cleared.in_use.bytes),
                        cleared.user.empty() ? "" : " by " + cleared.user);
  print_shown("%s: %s\n", std::string(kind.name).c_str(), text.c_str());
}

/// The kinds that are named, or those that a run makes again.
std::vector<CacheKind> chosen_kinds(const Arguments& arguments) {
  std::vector<CacheKind> chosen;
  for (std::size_t i = 1; i < arguments.words.size(); ++i)
    chosen.push_back(kind_named(arguments.words[i]));
  for (const auto& kind : cache_kinds())
    if (arguments.words.size() < 2 && kind.when_needed && kept(kind).files > 0)
      chosen.push_back(kind);
  return chosen;
}

int clear_kinds(const Arguments& arguments) {
  std::int64_t freed = 0;
  for (const auto& kind : chosen_kinds(arguments)) {
    const auto cleared = clear(kind);
    freed += cleared.removed.bytes;
    print_cleared(kind, cleared);
  }
  print_shown("%s freed\n", format_bytes(freed).c_str());
  return 0;
}

int cache(const Arguments& arguments) {
  const auto action = arguments.words.empty() ? "list" : arguments.words[0];
  if (action == "clear" && !arguments.has(kCacheFormat.name)) return clear_kinds(arguments);
  if (action == "clear") throw Error(Exit::recipe, "--format is for 'cache list'");
  if (action != "list")
    throw Error(Exit::recipe, "'cache' has no action '{}'{}", action,
                did_you_mean(nearest(action, {"list", "clear"}), "; there are list, clear"));
  if (arguments.words.size() > 1)
    throw Error(Exit::recipe, "'cache list' takes no word; it was given '{}'", arguments.words[1]);
  return list_kept(arguments);
}

}  // namespace

Verb cache_verb() {
  return {.name = "cache",
          .usage =
              "[list | clear [text | images | shards | fetched | kernels | weights | schema | "
              "libtorch | arrow | tools]...]",
          .summary =
              "what is kept outside of run folders; clear deletes what a run makes again, or what "
              "is named",
          .flags = {kCacheFormat},
          .run = cache};
}

}  // namespace ddptrain
