// `run RECIPE --repeat N`: one run after the other, on the seeds from the recipe's own upwards.
#pragma once

#include "cli/verb.h"

namespace ddptrain {

/// Each seed's run has a folder of its own. At the end prints metrics per seed with mean and
/// deviation, and returns the worst exit code. Diverging and missed expectations are results and
/// the next seed follows; anything else ends the repetition, which the same command takes up again.
int run_repeated(const Arguments& arguments);

}  // namespace ddptrain
