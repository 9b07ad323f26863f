#include <algorithm>

#include "cli/verb.h"

namespace ddptrain {

Verb average_verb();
Verb data_verb();
Verb describe_verb();
Verb eval_verb();
Verb export_verb();
Verb help_verb();
Verb list_verb();
Verb lr_find_verb();
Verb predict_verb();
Verb resume_verb();
Verb run_verb();
Verb schema_verb();
Verb show_verb();
Verb validate_verb();
Verb version_verb();

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all{
      run_verb(),      resume_verb(),  lr_find_verb(),  eval_verb(),    predict_verb(),
      export_verb(),   average_verb(), validate_verb(), show_verb(),    list_verb(),
      describe_verb(), schema_verb(),  data_verb(),     version_verb(), help_verb()};
  return all;
}

const Verb* find_verb(std::string_view name) {
  const auto found = std::find_if(verbs().begin(), verbs().end(),
                                  [&](const Verb& verb) { return verb.name == name; });
  return found == verbs().end() ? nullptr : &*found;
}

}  // namespace ddptrain
