#include "jobs/verify/noise.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/output/table_text.h"
#include "jobs/verify/differences.h"
#include "jobs/verify/step_gradients.h"

namespace ddptrain {

Allowance allowance_of(const Noise& noise) {
  const double by_shaking = 8 * noise.shaken, by_fp64 = 2 * noise.to_fp64;
  const auto why =
      by_shaking < by_fp64
          ? fmt::format("one rank is {} from the same steps in fp64", short_number(noise.to_fp64))
          : "one in the last place of its weights changes them by " + short_number(noise.shaken);
  return {std::max(by_shaking, by_fp64), "rounding errors of this model: " + why};
}

std::map<std::string, Noise> measured_noise(ShortRuns& runs, const RunCut& cut, std::int64_t last) {
  auto exact_cut = cut;
  exact_cut.precision = Precision::fp64;
  const auto plain = runs.kept(cut, last), shaken = runs.shaken(cut, last),
             exact = runs.following(exact_cut, last, plain);
  std::map<std::string, Noise> noise;
  for (const auto& each : step_differences(plain, shaken, 0))
    noise[each.what].shaken = each.largest;
  for (const auto& each : checkpoint_differences(plain, shaken, 0))
    noise[each.what].shaken = each.largest;
  for (const auto& each : step_differences(exact, plain, 0))
    noise[each.what].to_fp64 = each.largest;
  noise[kGradients] = {followed_gradients(shaken).largest, followed_gradients(exact).largest};
  return noise;
}

}  // namespace ddptrain
