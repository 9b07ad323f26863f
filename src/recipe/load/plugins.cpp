#include "recipe/load/plugins.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Of the file that wrote it; on the command line, of the current folder.
std::string absolute_path(const Node& file) {
  const auto base = file.place.file == "command line" ? fs::path() : fs::path(file.place.file);
  return fs::absolute(base.parent_path() / file.text).lexically_normal().string();
}

void add_plugin(const Node& item, const Catalogs& catalogs) {
  const auto* file = item.is_map() ? item.find("file") : &item;
  if (!file || !file->is_scalar() || file->text.empty()) return;  // which check() reports
  const auto* digest = item.is_map() ? item.find("sha256") : nullptr;
  std::optional<std::string> sha256;
  if (digest && digest->is_scalar() && !digest->is_null()) sha256 = digest->text;
  if (!catalogs.add_plugin) throw Error(Exit::recipe, "plug-ins cannot be opened here");
  catalogs.add_plugin({absolute_path(*file), sha256});
}

}  // namespace

void add_plugins(const Node& tree, const Catalogs& catalogs, Problems& problems) {
  const auto* plugins = tree.find("plugins");
  if (!plugins) return;
  const auto items = plugins->is_list() ? plugins->items : std::vector<Node>{};
  for (std::size_t i = 0; i < items.size(); ++i) try {
      add_plugin(items[i], catalogs);
    } catch (const Error& error) {
      problems.push_back({Severity::error, "plugin", items[i].place, fmt::format("plugins[{}]", i),
                          error.message()});
    }
}

}  // namespace ddptrain
