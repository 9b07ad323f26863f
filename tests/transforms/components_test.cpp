// What the golden cases cannot show: ranges and frequencies of draws, sizes, refusals.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "images.h"
#include "support/refused.h"
#include "transforms/geometry.h"

namespace ddptrain {
namespace {

using test::applied;
using test::message;
using test::numbered;
using test::refused;
using test::transform;
using testing::HasSubstr;

TEST(Transforms, EveryOneHasASentence) {
  for (std::size_t i = 0; i < catalog<Transform>().size(); ++i)
    EXPECT_TRUE(catalog<Transform>().at(i).doc.ends_with(".")) << catalog<Transform>().at(i).name;
}

TEST(Resize, OneNumberIsTheShorterSide) {
  const auto resize = transform({{"type", "resize"}, {"size", 50}});
  EXPECT_EQ(resize->output({3, 100, 200}), (Extent{3, 50, 100}));
  EXPECT_EQ(resize->output({3, 200, 100}), (Extent{3, 100, 50}));
  EXPECT_FALSE(resize->output({3, 0, 0}).fixed());
  EXPECT_EQ(applied({{"type", "resize"}, {"size", 5}}, numbered(20, 10)).width, 10);
}

TEST(Resize, MaxSizeBoundsTheLongerSide) {
  const auto resize = transform({{"type", "resize"}, {"size", 50}, {"max_size", 80}});
  EXPECT_EQ(resize->output({3, 100, 200}), (Extent{3, 40, 80}));
  EXPECT_EQ(refused<Transform>({{"type", "resize"}, {"size", {10, 20}}, {"max_size", 80}}),
            "max_size: 'max_size' needs one value as 'size'\n");
}

TEST(CenterCrop, TakesTheMiddle) {
  const Image image = numbered(5, 5, 1);
  const Image out = applied({{"type", "center_crop"}, {"size", 3}}, image);
  EXPECT_EQ(out.bytes, (test::Bytes{image.bytes[6], image.bytes[7], image.bytes[8], image.bytes[11],
                                    image.bytes[12], image.bytes[13], image.bytes[16],
                                    image.bytes[17], image.bytes[18]}));
}

TEST(CenterCrop, PutsASmallerImageIntoTheMiddleOfBlack) {
  const Image out = applied({{"type", "center_crop"}, {"size", 4}}, test::flat(1, 2, 9));
  EXPECT_EQ(out.width, 4);
  EXPECT_EQ(out.height, 4);
  EXPECT_EQ(std::count(out.bytes.begin(), out.bytes.end(), 9), 6);
}

TEST(Pad, MirrorsWithAndWithoutTheEdge) {
  Image image;
  image.width = 3;
  image.height = 1;
  image.channels = 1;
  image.bytes = {1, 2, 3};
  const auto padded = [&](const char* mode) {
    return applied({{"type", "pad"}, {"padding", {2, 0, 2, 0}}, {"mode", mode}, {"fill", 7}}, image)
        .bytes;
  };
  EXPECT_EQ(padded("constant"), (test::Bytes{7, 7, 1, 2, 3, 7, 7}));
  EXPECT_EQ(padded("edge"), (test::Bytes{1, 1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(padded("reflect"), (test::Bytes{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(padded("symmetric"), (test::Bytes{2, 1, 1, 2, 3, 3, 2}));
}

TEST(Pad, RefusesAMirrorLargerThanTheImage) {
  EXPECT_THAT(message([] {
                applied({{"type", "pad"}, {"padding", 4}, {"mode", "reflect"}}, numbered(4, 9));
              }),
              HasSubstr("too small"));
}

TEST(HorizontalFlip, HappensAsOftenAsSaid) {
  const Image image = numbered(8, 1, 1);
  int flips = 0;
  for (std::uint64_t i = 0; i < 2000; ++i)
    flips += applied({{"type", "horizontal_flip"}, {"p", 0.3}}, image, i).bytes != image.bytes;
  EXPECT_NEAR(flips, 600, 5 * std::sqrt(2000 * 0.3 * 0.7));
}

TEST(VerticalFlip, TwiceIsNothing) {
  const Image image = numbered(4, 5);
  const nlohmann::json flip = {{"type", "vertical_flip"}, {"p", 1}};
  EXPECT_NE(applied(flip, image).bytes, image.bytes);
  EXPECT_EQ(applied(flip, applied(flip, image)).bytes, image.bytes);
}

TEST(RandomResizedCrop, WindowsKeepToScaleAndRatio) {
  const auto crop = transform(
      {{"type", "random_resized_crop"}, {"size", 32}, {"scale", {0.2, 0.6}}, {"ratio", {0.5, 2}}});
  std::set<double> lefts;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Stream random(3, i);
    const auto w = crop->window(200, 150, random).value();
    EXPECT_GE(w.left, 0);
    EXPECT_GE(w.top, 0);
    EXPECT_LE(w.left + w.width, 200);
    EXPECT_LE(w.top + w.height, 150);
    EXPECT_NEAR(w.width * w.height / 30000, 0.4, 0.205);
    EXPECT_NEAR(std::log(w.width / w.height), 0, std::log(2) + 0.03);
    EXPECT_EQ(w.out_width, 32);
    lefts.insert(w.left);
  }
  EXPECT_GT(lefts.size(), 50U);
}

TEST(RandomResizedCrop, FallsBackToTheMiddleOfAnExtremeImage) {
  const auto crop = transform({{"type", "random_resized_crop"}, {"size", 8}, {"scale", {1, 1}}});
  Stream random(1, 1);
  const auto w = crop->window(1000, 10, random).value();
  EXPECT_EQ(w.height, 10);
  EXPECT_EQ(w.width, 13);  // 10 * 4 / 3
  EXPECT_EQ(w.left, 493);
}

TEST(RandomCrop, PadsAndStaysInside) {
  const nlohmann::json recipe = {{"type", "random_crop"}, {"size", 32}, {"padding", 4}};
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Image out = applied(recipe, test::flat(32, 32, 255), i);
    EXPECT_EQ(out.width, 32);
    const auto black = std::count(out.bytes.begin(), out.bytes.end(), 0);
    EXPECT_LE(black, 3 * (32 * 32 - 28 * 28));
  }
}

TEST(RandomCrop, SaysWhatDoesNotFit) {
  EXPECT_EQ(message([] {
              applied({{"type", "random_crop"}, {"size", 9}}, numbered(8, 8));
            }),
            "random_crop: 9 x 9 pixels do not fit into 8 x 8; use pad_if_needed, or resize first");
}

TEST(Normalize, HasStatisticsForEachChannel) {
  EXPECT_EQ(message([] {
              applied({{"type", "normalize"}, {"preset", "imagenet"}}, numbered(8, 8, 1));
            }),
            "data.transforms: normalize: statistics of 3 channels, but images have 1");
}

TEST(RandomErasing, HasAValueForEachChannel) {
  EXPECT_EQ(
      message([] {
        applied({{"type", "random_erasing"}, {"p", 1}, {"value", {1, 2, 3}}}, numbered(32, 32, 1));
      }),
      "data.transforms: random_erasing: value has 3 numbers, images have 1 channels");
}

TEST(GaussianBlur, WantsImagesLargerThanHalfItsKernel) {
  EXPECT_EQ(message([] {
              applied({{"type", "gaussian_blur"}, {"kernel_size", 17}, {"p", 1}}, numbered(8, 9));
            }),
            "data.transforms: gaussian_blur: a kernel of 17 pixels is too large for an image of 8 "
            "x 9");
}

TEST(ColorJitter, DrawsFactorsFromTheirRange) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Image out =
        applied({{"type", "color_jitter"}, {"brightness", 0.4}}, test::flat(1, 1, 100), i);
    EXPECT_GE(out.bytes[0], 59);
    EXPECT_LE(out.bytes[0], 140);
  }
}

TEST(ColorJitter, RefusesWhatCannotBe) {
  const auto message_of = [](const nlohmann::json& more) {
    nlohmann::json recipe = {{"type", "color_jitter"}};
    recipe.update(more);
    return refused<Transform>(recipe);
  };
  EXPECT_EQ(message_of({{"hue", 0.6}}), "hue: 0.6 is above the maximum 0.5\n");
  EXPECT_EQ(message_of({{"hue", {-0.6, 0}}}), "hue[0]: -0.6 is below the minimum -0.5\n");
  EXPECT_EQ(message_of({{"order", {"hue", "hue"}}}), "order[1]: 'hue' is listed twice\n");
  EXPECT_EQ(message_of({{"contrast", {1.2, 0.8}}}),
            "contrast[1]: 0.8 is below the number before it, 1.2\n");
  EXPECT_EQ(message_of({{"contrast", {-1, 1}}}), "contrast[0]: -1 is below the minimum 0\n");
  EXPECT_EQ(message_of({{"brightness", 2}, {"hue", {-0.5, 0.5}}, {"order", {"hue", "contrast"}}}),
            "");
}

TEST(RandomErasing, BlotsOutAShareWithinItsRange) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Image out = applied({{"type", "random_erasing"}, {"p", 1}, {"scale", {0.1, 0.2}}},
                              test::flat(60, 60, 9), i);
    const double share = double(std::count(out.bytes.begin(), out.bytes.end(), 0)) / 10800;
    EXPECT_LT(share, 0.21);
    EXPECT_TRUE(share == 0 || share > 0.09) << share;
  }
}

TEST(RandomErasing, LetsSeveralBoxesShareTheArea) {
  const nlohmann::json recipe = {
      {"type", "random_erasing"}, {"p", 1}, {"scale", {0.3, 0.3}}, {"max_count", 3}};
  std::set<std::ptrdiff_t> shares;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Image out = applied(recipe, test::flat(60, 60, 9), i);
    const auto erased = std::count(out.bytes.begin(), out.bytes.end(), 0);
    // Boxes may overlap; rounding adds half a pixel to each side, at most 23 of 360 to each box.
    EXPECT_LE(erased, 3 * 3 * (360 + 23));
    shares.insert(erased / 1080);
  }
  EXPECT_GT(shares.size(), 1U);
}

TEST(Rotation, DrawsWithinItsAngles) {
  const Image image = numbered(9, 9);
  EXPECT_EQ(applied({{"type", "rotation"}, {"degrees", {0, 0}}}, image).bytes, image.bytes);
  EXPECT_NE(applied({{"type", "rotation"}, {"degrees", {-30, 30}}}, image, 1).bytes,
            applied({{"type", "rotation"}, {"degrees", {-30, 30}}}, image, 2).bytes);
}

TEST(ToGrayscale, CanLeaveOneChannel) {
  const nlohmann::json recipe = {{"type", "to_grayscale"}, {"channels", 1}};
  EXPECT_EQ(applied(recipe, test::flat(2, 2, 50)).bytes.size(), 4U);
  EXPECT_EQ(transform(recipe)->output({3, 2, 2}), (Extent{1, 2, 2}));
}

TEST(Normalize, WantsAPresetOrBothLists) {
  EXPECT_EQ(refused<Transform>("normalize"), "give one of 'preset', 'mean'\n");
  EXPECT_EQ(refused<Transform>({{"type", "normalize"}, {"mean", {0.5}}}),
            "mean: 'mean' has 1 item, and 'std' has 0 items by default\n");
  EXPECT_THAT(refused<Transform>(
                  {{"type", "normalize"}, {"preset", "mnist"}, {"mean", {0.5}}, {"std", {1}}}),
              HasSubstr("'preset' and 'mean' exclude each other"));
  const Image out =
      applied({{"type", "normalize"}, {"mean", {0.5}}, {"std", {0.25}}}, test::flat(1, 1, 255));
  EXPECT_FLOAT_EQ(out.floats[0], 2);
}

TEST(Flip, PutsEveryPixelOppositeForEveryWidthAndChannel) {
  for (const int channels : {1, 3, 4})
    for (int width = 1; width < 40; ++width) {
      const auto image = test::numbered(width, 3, channels);
      auto flipped = image;
      flip_horizontally(flipped);
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < width; ++x)
          for (int c = 0; c < channels; ++c)
            ASSERT_EQ(flipped.bytes[std::size_t((y * width + x) * channels + c)],
                      image.bytes[std::size_t((y * width + width - 1 - x) * channels + c)]);
    }
}

}  // namespace
}  // namespace ddptrain
