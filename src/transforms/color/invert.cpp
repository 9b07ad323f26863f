// torchvision.transforms.v2.RandomInvert.
#include "transforms/color/tone.h"
#include "transforms/components.h"
#include "transforms/random_change.h"

namespace ddptrain {

Entry<Transform> invert_transform() {
  return change_entry<ChanceOptions>("invert", "Turns light into dark.",
                                     [](Image& image, const ChanceOptions&) { invert(image); });
}

}  // namespace ddptrain
