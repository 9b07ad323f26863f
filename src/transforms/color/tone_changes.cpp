// autocontrast, equalize, invert. Changes of tone without options of their own.
#include "transforms/color/color.h"
#include "transforms/random_change.h"
#include "transforms/transform.h"

namespace ddptrain {

/// torchvision.transforms.v2.RandomAutocontrast.
Entry<Transform> autocontrast_transform() {
  return change_entry<ChanceOptions>(
      "autocontrast", "Stretches each channel from its least to its greatest value.",
      [](Image& image, const ChanceOptions&) { autocontrast(image); });
}

/// torchvision.transforms.v2.RandomEqualize.
Entry<Transform> equalize_transform() {
  return change_entry<ChanceOptions>("equalize", "Gives each channel all values equally often.",
                                     [](Image& image, const ChanceOptions&) { equalize(image); });
}

/// torchvision.transforms.v2.RandomInvert.
Entry<Transform> invert_transform() {
  return change_entry<ChanceOptions>("invert", "Turns light into dark.",
                                     [](Image& image, const ChanceOptions&) { invert(image); });
}

}  // namespace ddptrain
