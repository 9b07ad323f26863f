// torchvision.transforms.v2.RandomAdjustSharpness.
#include "transforms/color/color.h"
#include "transforms/random_change.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

struct SharpnessOptions {
  double factor = 1;
  double p = 0.5;
  void fields(Fields& f) {
    f("factor", factor,
      {.doc = "0 blurs, 1 leaves the image, 2 sharpens.",
       .min = 0,
       .required = true,
       .example = "1.5"});
    chance_field(f, p);
  }
};

}  // namespace

Entry<Transform> sharpness_transform() {
  return change_entry<SharpnessOptions>("sharpness", "Blurs or sharpens.",
                                        [](Image& image, const SharpnessOptions& options) {
                                          adjust_sharpness(image, options.factor);
                                        });
}

}  // namespace ddptrain
