// Masks and points stay on what they mark, whatever a transform does to the pixels.
#include <gmock/gmock.h>

#include <cmath>

#include "images.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using test::applied;

/// Gray with a white block of 11 x 11 pixels, its mask, and its middle as a point.
Image marked() {
  Image image = test::flat(96, 80, 100);
  Image mask = image;
  mask.channels = 1;
  mask.bytes.assign(mask.values(), 0);
  for (int y = 36; y < 47; ++y)
    for (int x = 44; x < 55; ++x) {
      mask.bytes[std::size_t(y * 96 + x)] = 1;
      for (int c = 0; c < 3; ++c) image.bytes[std::size_t((y * 96 + x) * 3 + c)] = 255;
    }
  image.masks = {mask};
  image.points = {{49.5, 41.5}};
  return image;
}

struct Spot {
  double x = 0, y = 0, pixels = 0;
  bool at_edge = false;  // part of it may be outside
};

/// Middle and size of the pixels that `is_spot(index of the pixel)`.
template <class IsSpot>
Spot spot(const Image& image, IsSpot is_spot) {
  Spot found;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      if (!is_spot(std::size_t(y) * image.width + x)) continue;
      found.x += x + 0.5;
      found.y += y + 0.5;
      ++found.pixels;
      found.at_edge |= x == 0 || y == 0 || x == image.width - 1 || y == image.height - 1;
    }
  found.x /= std::max(1.0, found.pixels);
  found.y /= std::max(1.0, found.pixels);
  return found;
}

Spot white_of(const Image& image) {
  // Half way between gray and white.
  return spot(image, [&](std::size_t i) {
    return image.is_float() ? image.floats[3 * i] > 177.5F / 255 : image.bytes[3 * i] > 177;
  });
}
Spot masked_of(const Image& mask) {
  return spot(mask, [&](std::size_t i) { return mask.bytes[i] == 1; });
}

class Moves : public testing::TestWithParam<json> {};

TEST_P(Moves, MasksAndPointsWithThePixels) {
  int whole = 0;
  for (std::uint64_t position = 0; position < 40; ++position) {
    const Image out = applied(GetParam(), marked(), position);
    const auto& mask = out.masks.at(0);
    ASSERT_EQ(mask.width, out.width);
    ASSERT_EQ(mask.height, out.height);
    const auto white = white_of(out), masked = masked_of(mask);
    if (white.at_edge || masked.at_edge || white.pixels < 20) continue;
    ++whole;
    EXPECT_NEAR(white.x, masked.x, 0.75) << position;
    EXPECT_NEAR(white.y, masked.y, 0.75) << position;
    EXPECT_NEAR(white.pixels, masked.pixels, 0.35 * white.pixels) << position;
    EXPECT_NEAR(out.points.at(0).x, masked.x, 1) << position;
    EXPECT_NEAR(out.points.at(0).y, masked.y, 1) << position;
  }
  EXPECT_GE(whole, 10) << "the block was hardly ever seen whole";
}

INSTANTIATE_TEST_SUITE_P(
    Transforms, Moves,
    testing::Values(
        json{{"type", "resize"}, {"size", 64}}, json{{"type", "center_crop"}, {"size", 60}},
        json{{"type", "random_crop"}, {"size", 64}, {"padding", 4}},
        json{{"type", "random_resized_crop"}, {"size", 64}},
        json{{"type", "horizontal_flip"}, {"p", 1}}, json{{"type", "vertical_flip"}, {"p", 1}},
        json{{"type", "pad"}, {"padding", {3, 1, 7, 5}}},
        json{{"type", "rotation"}, {"degrees", {-40, 40}}, {"interpolation", "bilinear"}},
        json{{"type", "rotation"}, {"degrees", {90, 90}}, {"expand", true}},
        json{{"type", "affine"},
             {"degrees", {-30, 30}},
             {"translate", {0.1, 0.1}},
             {"scale", {0.8, 1.3}},
             {"shear", {-10, 10}}},
        json{{"type", "perspective"}, {"p", 1}}, json{{"type", "fastai_resize"}, {"size", 64}},
        json{{"type", "fastai_augment"}, {"size", 64}, {"max_lighting", 0}}),
    [](const auto& test) {
      return test.param.at("type").template get<std::string>() + std::to_string(test.index);
    });

// AutoAugment's kin change colors too, so that the block may not be white: mask and point alone.
TEST(Targets, FollowThePoliciesThatMovePixels) {
  for (const std::string type : {"rand_augment", "trivial_augment", "auto_augment"}) {
    int moved = 0;
    for (std::uint64_t position = 0; position < 200; ++position) {
      const Image out = applied({{"type", type}}, marked(), position);
      const auto masked = masked_of(out.masks.at(0));
      if (masked.at_edge || masked.pixels < 20) continue;
      moved += std::hypot(masked.x - 49.5, masked.y - 41.5) > 2;
      EXPECT_NEAR(out.points.at(0).x, masked.x, 1) << type << position;
      EXPECT_NEAR(out.points.at(0).y, masked.y, 1) << type << position;
    }
    EXPECT_GE(moved, 3) << type;
  }
}

TEST(Targets, ColorsLeaveThemAlone) {
  for (const auto& recipe :
       {json{{"type", "color_jitter"}, {"brightness", 0.9}, {"hue", 0.4}},
        json{{"type", "gaussian_blur"}, {"kernel_size", 5}}, json{{"type", "equalize"}, {"p", 1}},
        json{{"type", "invert"}, {"p", 1}}, json{{"type", "to_grayscale"}},
        json{{"type", "random_erasing"}, {"p", 1}}}) {
    const Image before = marked(), out = applied(recipe, marked());
    EXPECT_EQ(out.masks.at(0).bytes, before.masks[0].bytes) << recipe;
    EXPECT_EQ(out.points.at(0).x, before.points[0].x) << recipe;
  }
}

}  // namespace
}  // namespace ddptrain
