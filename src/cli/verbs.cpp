#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "cli/program.h"

namespace ddptrain {

Verb cache_verb();
Verb compare_verb();
Verb completion_verb();
Verb describe_verb();
Verb diff_verb();
Verb help_verb();
Verb init_verb();
Verb list_verb();
Verb migrate_verb();
Verb plan_verb();
Verb plugin_verb();
Verb ps_verb();
Verb report_verb();
Verb runs_verb();
Verb schema_verb();
Verb show_verb();
Verb stop_verb();
Verb validate_verb();
Verb version_verb();
Verb weights_verb();

std::vector<Verb> reading_verbs() {
  return {runs_verb(),    ps_verb(),     stop_verb(),       compare_verb(),  report_verb(),
          weights_verb(), cache_verb(),  init_verb(),       validate_verb(), plan_verb(),
          show_verb(),    diff_verb(),   list_verb(),       describe_verb(), schema_verb(),
          migrate_verb(), plugin_verb(), completion_verb(), version_verb(),  help_verb()};
}

void add_given_plugin(const Arguments& arguments) {
  if (!arguments.has(kPlugin.name)) return;
  const auto path = std::filesystem::absolute(arguments.value(kPlugin.name));
  arguments.program->catalogs->add_plugin({path.lexically_normal().string(), {}});
}

const Verb* Program::find(std::string_view name) const {
  const auto found =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.name == name; });
  return found == verbs.end() ? nullptr : &*found;
}

const CatalogBase& Program::catalog(const std::string& kind) const {
  if (const auto found = catalogs->find(kind); found != catalogs->end()) return *found->second;
  std::vector<std::string> kinds;
  for (const auto& [name, unused] : *catalogs) kinds.push_back(name);
  const auto near = nearest(kind, kinds);
  throw Error(Exit::recipe, "'{}' is not a kind of component{}", kind,
              did_you_mean(near, "; there are " + join(kinds, ", ")));
}

}  // namespace ddptrain
