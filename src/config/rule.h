// What `ddptrain help error ID` tells of a kind of problem, and tests hold it to.
#pragma once

#include <string_view>

namespace ddptrain {

/// A kind of problem. `id` is stable ("unknown-key"); `summary` is one sentence with a full stop;
/// `why` says in a few what would happen otherwise; `wrong` is the least YAML that shows it and
/// `right` the same, mended, both laid over a recipe that is good by itself. Where YAML alone
/// cannot show it (files, machines), `wrong` and `right` are empty.
struct RuleDoc {
  std::string_view id;
  std::string_view summary;
  std::string_view why;
  std::string_view wrong;
  std::string_view right;
};

}  // namespace ddptrain
