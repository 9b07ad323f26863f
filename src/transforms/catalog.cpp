// The transforms.
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

namespace {

Entry<Transform> (*const kTransforms[])() = {
    affine_transform,
    auto_augment,
    autocontrast_transform,
    center_crop,
    color_jitter,
    equalize_transform,
    fastai_augment,
    fastai_resize,
    fastai_valid_crop,
    gamma_transform,
    gaussian_blur_transform,
    horizontal_flip,
    invert_transform,
    normalize,
    pad,
    perspective_transform,
    posterize_transform,
    rand_augment,
    random_crop,
    random_erasing,
    random_resized_crop,
    resize,
    rotation,
    sharpness_transform,
    solarize_transform,
    to_grayscale,
    trivial_augment,
    vertical_flip,
};

}  // namespace

template <>
const Catalog<Transform>& catalog<Transform>() {
  static const Catalog<Transform> all([] {
    std::vector<Entry<Transform>> entries;
    for (const auto make : kTransforms) entries.push_back(make());
    return entries;
  }());
  return all;
}

}  // namespace ddptrain
