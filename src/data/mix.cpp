#include "data/mix.h"

#include <cmath>

#include "base/names.h"

namespace ddptrain {
namespace {

/// The logarithm of a draw of Gamma(shape, 1). A shape below 1 is raised by one and taken back by a
/// power of a uniform draw.
double log_gamma_draw(double shape, Stream& random) {
  const double raised = shape < 1 ? shape + 1 : shape;
  const double d = raised - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = 1 - random.uniform();  // (0, 1]
    if (std::log(u) > 0.5 * x * x + d * (1 - v + std::log(v))) continue;
    const double lowered = shape < 1 ? std::log(1 - random.uniform()) / shape : 0;
    return std::log(d * v) + lowered;
  }
}

}  // namespace

std::span<const std::string_view> names(MixPer) { return kNameList<"row", "batch">; }

void MixOptions::fields(Fields& f) {
  f("alpha", alpha,
    {.doc = "Shares follow Beta(alpha, alpha): near 0 and 1 for a small one, near a half for a "
            "large one.",
     .min = 0,
     .above_min = true});
  f("p", p, {.doc = "How likely it is that rows are mixed at all.", .min = 0, .max = 1});
  f("per", per, {.doc = "Whether each row draws for itself, or each global batch once."});
}

double draw_beta(double a, Stream& random) {
  const double first = log_gamma_draw(a, random), second = log_gamma_draw(a, random);
  return 1 / (1 + std::exp(second - first));
}

}  // namespace ddptrain
