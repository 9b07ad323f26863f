#include "cli/problems.h"

#include <algorithm>
#include <cstdio>

#include "base/output/color.h"

namespace ddptrain {

void apply_strict(Problems& problems, const Arguments& arguments) {
  if (!arguments.has("--strict")) return;
  for (auto& problem : problems)
    if (problem.severity == Severity::warning) problem.severity = Severity::error;
}

bool say_problems(const Problems& problems) {
  if (problems.empty()) return false;
  print_problems(render(problems), stderr);
  const auto all = sorted(problems);
  const auto first = std::find_if(all.begin(), all.end(), [](const Problem& problem) {
    return problem.severity == Severity::error;
  });
  if (first == all.end()) return false;
  log::info("'ddptrain help error {}' says more", first->rule);
  return true;
}

}  // namespace ddptrain
