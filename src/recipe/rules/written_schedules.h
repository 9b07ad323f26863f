// The schedules that a recipe writes, for the rules that compare them with the run.
#pragma once

#include <string>
#include <vector>

#include "recipe/recipe.h"

namespace ddptrain {

struct WrittenSchedule {
  std::string path;
  const Choice<Schedule>* choice;
  Duration run;        // how long it goes on
  bool whole = false;  // that is the whole run, not a stage
};

/// Of the rate: the recipe's own, or that of each stage; none under train.fine_tune, which has its
/// own.
std::vector<WrittenSchedule> rate_schedules(const Recipe& recipe);
/// Those, and the ones of momentum and weight decay.
std::vector<WrittenSchedule> written_schedules(const Recipe& recipe);

}  // namespace ddptrain
