#include "train/step/bad_samples.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {

void require_few_bad(const PolicySpec& policy, std::int64_t bad, std::int64_t samples,
                     const std::string& which) {
  const double allowed = policy.bad_samples.value * static_cast<double>(samples);
  if (static_cast<double>(bad) <= std::max(allowed, 1.0)) return;
  throw Error(Exit::data, std::to_string(bad) + " of " + std::to_string(samples) + " " + which +
                              " could not be read, more than policy.bad_samples allows (" +
                              format_number(100 * policy.bad_samples.value) + " %)");
}

}  // namespace ddptrain
