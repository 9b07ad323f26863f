// The transforms that recipes can name, one file each.
#pragma once

#include "transforms/transform.h"

namespace ddptrain {

Entry<Transform> center_crop();
Entry<Transform> color_jitter();
Entry<Transform> horizontal_flip();
Entry<Transform> normalize();
Entry<Transform> pad();
Entry<Transform> random_crop();
Entry<Transform> random_erasing();
Entry<Transform> random_resized_crop();
Entry<Transform> resize();
Entry<Transform> rotation();
Entry<Transform> to_grayscale();
Entry<Transform> vertical_flip();

}  // namespace ddptrain
