// torchvision.transforms.v2.RandomSolarize.
#include "transforms/color/color.h"
#include "transforms/random_change.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

struct SolarizeOptions {
  double threshold = 0.5;
  double p = 0.5;
  void fields(Fields& f) {
    f("threshold", threshold,
      {.doc = "Share of the full value from which on values are inverted: 128 of 255 is 0.502.",
       .min = 0,
       .max = 1,
       .required = true,
       .example = "0.5"});
    chance_field(f, p);
  }
};

}  // namespace

Entry<Transform> solarize_transform() {
  return change_entry<SolarizeOptions>(
      "solarize", "Inverts what is bright.",
      [](Image& image, const SolarizeOptions& options) { solarize(image, options.threshold); });
}

}  // namespace ddptrain
