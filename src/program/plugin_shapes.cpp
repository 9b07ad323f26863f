#include "program/plugin_shapes.h"

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/version.h"
#include "cli/documents/components.h"

namespace ddptrain {

void add_plugin_shapes(Components& components, const PluginFile& file) {
  static std::set<std::string> known;
  const auto path = std::filesystem::path(file.path).replace_extension(".json").string();
  if (known.contains(path)) return;
  if (!std::filesystem::exists(file.path))
    throw Error(Exit::recipe, "there is no '" + file.path + "'");
  if (!std::filesystem::exists(path))
    throw Error(Exit::recipe, "there is no '" + path + "', by which checks know a plug-in; '" +
                                  "ddptrain plugin shapes " + file.path + "' writes it");
  const auto text = read_text(path);
  const auto json = parse_json(text);
  const auto versions = "ddptrain " + version() + ", LibTorch " + torch_version();
  const auto built_for = json.value("plugin", std::string("no known version"));
  if (built_for != versions)
    throw Error(Exit::recipe, "'" + path + "' was written for " + built_for + ", and this is " +
                                  versions + "; build the plug-in again");
  components.add(text);
  known.insert(path);
}

}  // namespace ddptrain
