// `plugin shapes FILE`: the .json next to a plug-in's file, by which checks know it.
#include <filesystem>
#include <map>

#include "base/files/files.h"
#include "base/output/log.h"
#include "base/version.h"
#include "cli/documents/components.h"
#include "cli/verb.h"
#include "train/catalogs.h"
#include "train/plugin_file.h"

namespace ddptrain {

/// For the verb `plugin` (cli/program.h).
int plugin_shapes(const Arguments& arguments) {
  namespace fs = std::filesystem;
  const auto& catalogs = all_catalogs();
  std::map<std::string, std::size_t> first;
  for (const auto& [kind, catalog] : catalogs) first[kind] = catalog->size();
  auto path = fs::absolute(arguments.words.at(1)).lexically_normal();
  open_plugin_file({path.string(), {}});
  path.replace_extension(".json");
  write_atomically(path.string(), plugin_components_text(catalogs, first, plugin_versions()));
  log::info("wrote {}", path.string());
  return 0;
}

}  // namespace ddptrain
