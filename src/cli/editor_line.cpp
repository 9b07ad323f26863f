#include "cli/editor_line.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/files/files.h"
#include "config/schema/schema.h"
#include "config/shape.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Of an installation, of a build in the source tree.
std::string schema_beside_program() {
  std::error_code unknown;
  const auto folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const auto* place : {"../share/ddptrain/schemas/recipe.json", "../schemas/recipe.json"})
    if (const auto path = fs::weakly_canonical(folder / place, unknown); fs::exists(path, unknown))
      return path.string();
  return "";
}

std::string schema_in_cache(const Catalogs& catalogs) {
  const auto path = fs::absolute(cache_folder()) / "recipe.json";
  try {
    make_folders(path.parent_path().string());
    write_atomically(path.string(), json_schema(shape_of<Recipe>(), catalogs));
  } catch (const Error&) {
    return "";  // completion in an editor is not worth a failure
  }
  return path.string();
}

}  // namespace

std::string editor_line(const Catalogs& catalogs) {
  auto path = schema_beside_program();
  if (path.empty()) path = schema_in_cache(catalogs);
  return path.empty() ? "" : "# yaml-language-server: $schema=" + path + "\n";
}

}  // namespace ddptrain
