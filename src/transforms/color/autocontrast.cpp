// torchvision.transforms.v2.RandomAutocontrast.
#include "transforms/color/tone.h"
#include "transforms/components.h"
#include "transforms/random_change.h"

namespace ddptrain {

Entry<Transform> autocontrast_transform() {
  return change_entry<ChanceOptions>(
      "autocontrast", "Stretches each channel from its least to its greatest value.",
      [](Image& image, const ChanceOptions&) { autocontrast(image); });
}

}  // namespace ddptrain
