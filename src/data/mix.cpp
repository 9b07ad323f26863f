#include "data/mix.h"

#include <array>

namespace ddptrain {

std::span<const std::string_view> names(MixPer) {
  static constexpr std::array<std::string_view, 2> words{"row", "batch"};
  return words;
}

void MixOptions::fields(Fields& f) {
  f("alpha", alpha,
    {.doc = "Shares follow Beta(alpha, alpha): near 0 and 1 for a small one, near a half for a "
            "large one.",
     .min = 0,
     .above_min = true});
  f("p", p, {.doc = "How likely it is that rows are mixed at all.", .min = 0, .max = 1});
  f("per", per, {.doc = "Whether each row draws for itself, or each global batch once."});
}

}  // namespace ddptrain
