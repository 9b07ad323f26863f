#include "transforms/components.h"

namespace ddptrain {

template <>
const Catalog<Transform>& catalog<Transform>() {
  static const Catalog<Transform> all({
      center_crop(),
      color_jitter(),
      horizontal_flip(),
      normalize(),
      pad(),
      random_crop(),
      random_erasing(),
      random_resized_crop(),
      resize(),
      rotation(),
      to_grayscale(),
      vertical_flip(),
  });
  return all;
}

}  // namespace ddptrain
