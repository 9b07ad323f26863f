// Which part of a step limits it, and what would move that.
#pragma once

#include <string>

#include "jobs/bench/step_times.h"

namespace ddptrain {

struct StepLimit {
  std::string part;      // "loader", "backward", ...
  std::string sentence;  // for a person
  std::string override;  // of the recipe, as on the command line; empty: no key would move it
};

StepLimit bottleneck(const StepTimes& times);

}  // namespace ddptrain
