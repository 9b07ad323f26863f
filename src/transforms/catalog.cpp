#include "transforms/components.h"

namespace ddptrain {

template <>
const Catalog<Transform>& catalog<Transform>() {
  static const Catalog<Transform> all({
      affine_transform(),
      auto_augment(),
      autocontrast_transform(),
      center_crop(),
      color_jitter(),
      equalize_transform(),
      fastai_augment(),
      fastai_resize(),
      fastai_valid_crop(),
      gamma_transform(),
      gaussian_blur_transform(),
      horizontal_flip(),
      invert_transform(),
      normalize(),
      pad(),
      perspective_transform(),
      posterize_transform(),
      rand_augment(),
      random_crop(),
      random_erasing(),
      random_resized_crop(),
      resize(),
      rotation(),
      sharpness_transform(),
      solarize_transform(),
      to_grayscale(),
      trivial_augment(),
      vertical_flip(),
  });
  return all;
}

}  // namespace ddptrain
