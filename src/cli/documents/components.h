// The verbs and components of the engine as text: schemas/components.json, from which the program
// knows them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program.h"
#include "config/catalog.h"

namespace ddptrain {

/// JSON: the verbs, and of each kind its components, two items each: a face (name, sentence,
/// traits) and the options' shape. One item on each line, so that a reader need not parse them all.
std::string components_text(const Program& program);

/// The same of the components of a plug-in: of each kind the entries from the position on that is
/// given for it. `versions`: those that the plug-in was built for.
std::string plugin_components_text(const Catalogs& catalogs,
                                   const std::map<std::string, std::size_t>& first,
                                   const std::string& versions);

/// What components_text wrote, in a text that stays. Verbs cannot be run; shapes are made when they
/// are first asked for.
class Components {
 public:
  explicit Components(std::string_view text);
  ~Components();
  Components(const Components&) = delete;
  Components& operator=(const Components&) = delete;
  /// Components of a plug-in; an Error (Exit::recipe) where one has a name that is taken, or a
  /// trait that does not exist.
  void add(std::string_view text);
  const std::vector<Verb>& verbs() const { return verbs_; }
  const Catalogs& catalogs() const { return catalogs_; }
  /// What is called where a recipe names a plug-in.
  void set_plugins(std::function<void(const PluginFile&)> add) {
    catalogs_.add_plugin = std::move(add);
  }

 private:
  std::vector<Verb> verbs_;
  void read(std::string_view text, bool of_plugin);
  class Kind;
  std::map<std::string, std::unique_ptr<Kind>, std::less<>> kinds_;
  Catalogs catalogs_;
};

}  // namespace ddptrain
