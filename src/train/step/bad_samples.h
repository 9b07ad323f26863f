// How many samples may be left out because they are bad.
#pragma once

#include <cstdint>
#include <string>

#include "recipe/recipe.h"

namespace ddptrain {

/// An Error (Exit::data) where more of `samples` were left out than policy.bad_samples allows; one
/// always may be. The counts are those of all ranks, so all of them throw alike. `which` names the
/// samples: "training samples of epoch 2".
void require_few_bad(const PolicySpec& policy, std::int64_t bad, std::int64_t samples,
                     const std::string& which);

}  // namespace ddptrain
