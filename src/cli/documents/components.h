// The verbs and components of the engine as text: schemas/components.json, from which the program
// knows them.
#pragma once

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

/// What components_text wrote, in a text that stays. Verbs cannot be run; shapes are made when they
/// are first asked for.
class Components {
 public:
  explicit Components(std::string_view text);
  const std::vector<Verb>& verbs() const { return verbs_; }
  const Catalogs& catalogs() const { return catalogs_; }

 private:
  std::vector<Verb> verbs_;
  std::vector<std::unique_ptr<const CatalogBase>> kinds_;
  Catalogs catalogs_;
};

}  // namespace ddptrain
