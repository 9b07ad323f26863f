// The transforms that recipes can name, one file each.
#pragma once

#include "transforms/transform.h"

namespace ddptrain {

Entry<Transform> affine_transform();
Entry<Transform> auto_augment();
Entry<Transform> autocontrast_transform();
Entry<Transform> center_crop();
Entry<Transform> color_jitter();
Entry<Transform> equalize_transform();
Entry<Transform> fastai_augment();
Entry<Transform> fastai_resize();
Entry<Transform> fastai_valid_crop();
Entry<Transform> gamma_transform();
Entry<Transform> gaussian_blur_transform();
Entry<Transform> horizontal_flip();
Entry<Transform> invert_transform();
Entry<Transform> normalize();
Entry<Transform> pad();
Entry<Transform> perspective_transform();
Entry<Transform> posterize_transform();
Entry<Transform> rand_augment();
Entry<Transform> random_crop();
Entry<Transform> random_erasing();
Entry<Transform> random_resized_crop();
Entry<Transform> resize();
Entry<Transform> rotation();
Entry<Transform> sharpness_transform();
Entry<Transform> solarize_transform();
Entry<Transform> to_grayscale();
Entry<Transform> trivial_augment();
Entry<Transform> vertical_flip();

}  // namespace ddptrain
