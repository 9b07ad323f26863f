// What the golden cases of single operations cannot show: chances, choices, identities, refusals.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "images.h"
#include "support/refused.h"
#include "transforms/color/color.h"
#include "transforms/geometry/projection.h"
#include "transforms/policies/augment_ops.h"

namespace ddptrain {
namespace {

using test::flat;
using test::message;
using test::numbered;
using test::transform;

const char* const kChoosers[] = {"auto_augment", "rand_augment", "trivial_augment"};

TEST(Augment, ChangesImagesInTheImageOfTheirStream) {
  for (const auto* name : kChoosers) {
    const auto step = transform({{"type", name}});
    int changed = 0;
    for (std::uint64_t draw = 0; draw < 40; ++draw) {
      Image first = numbered(12, 16), second = first;
      Stream a(7, draw), b(7, draw);
      step->apply(first, a);
      step->apply(second, b);
      EXPECT_EQ(first.bytes, second.bytes) << name;
      changed += first.bytes != numbered(12, 16).bytes;
    }
    EXPECT_GT(changed, 10) << name;
  }
}

TEST(Augment, StartsWithoutEffectAndEndsAtTheLimit) {
  const Image image = flat(331, 200, 0);
  Stream random(1, 1);
  const auto size = [&](AugmentOp op, double bin) {
    return std::abs(magnitude_of(op, {bin, 31}, image, {}, random));
  };
  EXPECT_EQ(size(AugmentOp::shear_x, 0), 0);
  EXPECT_DOUBLE_EQ(size(AugmentOp::shear_x, 30), 0.3);
  EXPECT_DOUBLE_EQ(size(AugmentOp::rotate, 15), 15);
  EXPECT_EQ(size(AugmentOp::posterize, 0), 8);
  EXPECT_EQ(size(AugmentOp::posterize, 30), 4);
  EXPECT_EQ(size(AugmentOp::solarize, 0), 1);
  EXPECT_EQ(size(AugmentOp::solarize, 30), 0);
}

TEST(Augment, GoesBothWaysEquallyOften) {
  const Image image = flat(8, 8, 0);
  Stream random(3, 0);
  int below = 0;
  for (int i = 0; i < 1000; ++i)
    below += magnitude_of(AugmentOp::rotate, {9, 31}, image, {}, random) < 0;
  EXPECT_NEAR(below, 500, 80);  // five deviations of a fair coin
}

TEST(RandAugment, RefusesAMagnitudeBeyondTheBins) {
  EXPECT_EQ(test::refused<Transform>({{"type", "rand_augment"}, {"magnitude", 31}}),
            "magnitude: 'magnitude: 31' is not below 'num_magnitude_bins: 31' (the default)\n");
  EXPECT_EQ(test::refused<Transform>({{"type", "rand_augment"}, {"magnitude", 30}}), "");
}

TEST(Chance, HappensAsOftenAsWritten) {
  const auto step = transform({{"type", "invert"}, {"p", 0.25}});
  int inverted = 0;
  for (std::uint64_t draw = 0; draw < 2000; ++draw) {
    Image image = flat(1, 1, 10);
    Stream random(5, draw);
    step->apply(image, random);
    inverted += image.bytes[0] == 245;
  }
  EXPECT_NEAR(inverted, 500, 97);  // five deviations of a binomial draw
}

TEST(Perspective, ToTheSameCornersChangesNothing) {
  Image image = numbered(9, 7);
  const Corners corners{{{0, 0}, {8, 0}, {8, 6}, {0, 6}}};
  perspective(image, corners, corners, {Interpolation::nearest, 0});
  EXPECT_EQ(image.bytes, numbered(9, 7).bytes);
}

TEST(Affine, MovesByWholePixels) {
  Image image = numbered(4, 4, 1);
  Affine right;
  right.translate = {1, 0};
  affine(image, right, {Interpolation::nearest, 200});
  const Image before = numbered(4, 4, 1);
  for (int y = 0; y < 4; ++y) {
    EXPECT_EQ(image.bytes[std::size_t(y) * 4], 200);
    for (int x = 1; x < 4; ++x)
      EXPECT_EQ(image.bytes[std::size_t(y) * 4 + x], before.bytes[std::size_t(y) * 4 + x - 1]);
  }
}

TEST(Tone, LeavesAnImageOfOneValue) {
  for (const auto change : {autocontrast, equalize}) {
    Image image = flat(6, 6, 77);
    change(image);
    EXPECT_EQ(image.bytes, flat(6, 6, 77).bytes);
  }
  Image image = flat(6, 6, 77);
  gaussian_blur(image, 5, 1.5);
  EXPECT_EQ(image.bytes, flat(6, 6, 77).bytes);
}

TEST(Tone, SharpnessOneAndGammaOneChangeNothing) {
  Image image = numbered(6, 6);
  adjust_sharpness(image, 1);
  EXPECT_EQ(image.bytes, numbered(6, 6).bytes);
  adjust_gamma(image, 1);
  EXPECT_EQ(image.bytes, numbered(6, 6).bytes);
}

TEST(GaussianBlur, RefusesAKernelLargerThanTheImage) {
  Image image = flat(3, 3, 1);
  EXPECT_EQ(
      message([&] { gaussian_blur(image, 7, 1); }),
      "data.transforms: gaussian_blur: a kernel of 7 pixels is too large for an image of 3 x 3");
  EXPECT_EQ(test::refused<Transform>({{"type", "gaussian_blur"}, {"kernel_size", 4}}),
            "kernel_size: 4 is not odd\n");
}

}  // namespace
}  // namespace ddptrain
