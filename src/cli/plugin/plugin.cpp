// `plugin new NAME [FOLDER]` and `plugin shapes FILE`: components of your own.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/plugin/template_files.h"
#include "cli/program.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// A name that C++, CMake and files take alike.
void require_plugin_name(const std::string& name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || name[0] < 'a' || name[0] > 'z' ||
      !std::all_of(name.begin(), name.end(), is_good))
    throw Error(Exit::recipe,
                "'{}' is no name for a plug-in: it begins with a small letter, and has small "
                "letters, digits and '_' alone",
                name);
}

/// Where this program is installed, or was built.
std::string installed_in() {
  std::error_code unknown;
  const auto folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  return (folder.filename() == "bin" ? folder.parent_path() : folder).string();
}

int new_plugin(const Arguments& arguments) {
  const auto& name = arguments.words.at(1);
  require_plugin_name(name);
  const auto folder = arguments.words.size() > 2 ? arguments.words[2] : name;
  if (fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder)))
    throw Error(Exit::recipe, "'{}' is there already; name another folder", folder);
  fs::create_directories(folder);
  for (const auto& [file, text] : plugin_template(name, installed_in()))
    write_atomically(folder + "/" + file, text);
  print_shown(
      "wrote %s: a loss, a model and a transform, a test and a recipe; README.md says how to "
      "build them\n",
      folder.c_str());
  return 0;
}

int plugin(const Arguments& arguments) {
  const auto& action = arguments.words[0];
  const auto& program = *arguments.program;
  if (action != "new" && action != "shapes")
    throw Error(Exit::recipe, "'plugin' has no action '{}'{}", action,
                did_you_mean(nearest(action, {"new", "shapes"}), "; there are new, shapes"));
  if (action == "new") return new_plugin(arguments);
  return program.plugin_shapes ? program.plugin_shapes(arguments)
                               : program.in_engine(arguments, "'plugin shapes'");
}

}  // namespace

Verb plugin_verb() {
  return {.name = "plugin",
          .usage = "new NAME [FOLDER] | shapes FILE",
          .summary = "components of your own: begin a plug-in; write what checks know of it",
          .flags = {},
          .min_words = 2,
          .max_words = 3,
          .run = plugin};
}

}  // namespace ddptrain
