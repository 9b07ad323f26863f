// torchvision.transforms.v2.RandomEqualize.
#include "transforms/color/tone.h"
#include "transforms/components.h"
#include "transforms/random_change.h"

namespace ddptrain {

Entry<Transform> equalize_transform() {
  return change_entry<ChanceOptions>("equalize", "Gives each channel all values equally often.",
                                     [](Image& image, const ChanceOptions&) { equalize(image); });
}

}  // namespace ddptrain
