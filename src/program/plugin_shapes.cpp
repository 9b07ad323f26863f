#include "program/plugin_shapes.h"

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/documents/components.h"

namespace ddptrain {
namespace {

void add_shapes_of(Components& components, const std::string& path) try {
  const auto text = read_text(path);
  const auto built_for = parse_json(text).value("plugin", std::string("no known version"));
  if (built_for != plugin_versions())
    throw Error(Exit::recipe, "'{}' was written for {}, and this is {}; build the plug-in again",
                path, shown(built_for), plugin_versions());
  components.add(text);
} catch (const Json::exception&) {
  throw Error(Exit::recipe, "'{}' is damaged; build the plug-in again", path);
}

}  // namespace

void add_plugin_shapes(Components& components, const PluginFile& file) {
  static std::set<std::string> known;
  const auto path = std::filesystem::path(file.path).replace_extension(".json").string();
  if (known.contains(path)) return;
  if (!std::filesystem::exists(file.path)) throw Error(Exit::recipe, "there is no '{}'", file.path);
  if (!std::filesystem::exists(path))
    throw Error(
        Exit::recipe,
        "there is no '{}', by which checks know a plug-in; 'ddptrain plugin shapes {}' writes it",
        path, file.path);
  add_shapes_of(components, path);
  known.insert(path);
}

}  // namespace ddptrain
