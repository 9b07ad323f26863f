// Masks in files, their borders, and how they are drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "png_file.h"
#include "transforms/codecs/mask_colors.h"
#include "transforms/codecs/write.h"
#include "transforms/preview/overlay.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using test::Bytes;
using testing::ElementsAre;

EncodedImage named(const Bytes& file) { return {file, "m.png"}; }

Image mask_of(int width, int height, std::vector<std::uint8_t> bytes) {
  Image mask{width, height, 1, {}, {}};
  mask.bytes = std::move(bytes);
  return mask;
}

/// Two rows of packed samples behind their filter bytes.
Bytes packed(char depth, char type, const std::string& rows, const std::string& before = "") {
  return test::png_file({.width = 4, .height = 2, .depth = depth, .type = type},
                        test::deflated(rows), before);
}

std::string rows_of(std::string first, std::string second) {
  return std::string(1, '\0') + first + std::string(1, '\0') + second;
}

TEST(MaskFile, GivesIndicesOfAPaletteAndNotItsColors) {
  const auto palette =
      test::png_chunk("PLTE", std::string("\xff\0\0\0\xff\0\0\0\xff\x10\x10\x10", 12));
  const auto file = packed(2, 3, rows_of("\x1b", "\xe4"), palette);  // 0 1 2 3, 3 2 1 0
  EXPECT_THAT(decode_mask(named(file)).bytes, ElementsAre(0, 1, 2, 3, 3, 2, 1, 0));
}

TEST(MaskFile, GivesGraysOfAnyDepthAsTheyAreStored) {
  EXPECT_THAT(decode_mask(named(packed(1, 0, rows_of("\xa0", "\x50")))).bytes,
              ElementsAre(1, 0, 1, 0, 0, 1, 0, 1));
  EXPECT_THAT(decode_mask(named(packed(8, 0, rows_of("\x05\x1f\xff\x01", "abcd")))).bytes,
              ElementsAre(5, 31, 255, 1, 'a', 'b', 'c', 'd'));
}

TEST(MaskFile, RefusesWhatHasNoNumbers) {
  const auto problem = [](const Bytes& file) {
    return test::message([&] { decode_mask(named(file)); });
  };
  EXPECT_EQ(problem(packed(8, 2, rows_of(std::string(12, 'a'), std::string(12, 'b')))),
            "'m.png' has colors and no palette; a mask's palette indices or grays are classes");
  EXPECT_EQ(problem(packed(16, 0, rows_of(std::string(8, 'a'), std::string(8, 'b')))),
            "'m.png' has grays of 16 bits; those of a mask have at most 8");
  EXPECT_EQ(problem(test::golden_file("a_rgb.jpg")),
            "'m.png' is no PNG; masks are PNG files whose palette indices or grays are classes");
}

TEST(MaskFile, IsReadAsItWasWritten) {
  auto mask = mask_of(16, 16, {});
  for (int i = 0; i < 256; ++i) mask.bytes.push_back(static_cast<std::uint8_t>(i));
  const auto file = encode_mask_png(mask);
  const Bytes bytes(file.begin(), file.end());
  EXPECT_EQ(decode_mask(named(bytes)).bytes, mask.bytes);
  const auto shown = decode(named(bytes));
  for (std::size_t i = 0; i < 256; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      ASSERT_EQ(shown.bytes[3 * i + c], mask_color(static_cast<std::uint8_t>(i))[c]) << i;
}

// The VOC devkit's colors: background, aeroplane, bicycle, tvmonitor and void.
TEST(MaskColors, AreThoseOfPascalVoc) {
  EXPECT_THAT(mask_color(0), ElementsAre(0, 0, 0));
  EXPECT_THAT(mask_color(1), ElementsAre(128, 0, 0));
  EXPECT_THAT(mask_color(2), ElementsAre(0, 128, 0));
  EXPECT_THAT(mask_color(20), ElementsAre(0, 64, 128));
  EXPECT_THAT(mask_color(255), ElementsAre(224, 224, 192));
}

class MaskBorder : public testing::TestWithParam<json> {};

TEST_P(MaskBorder, IsTheOneThatTheMaskNames) {
  for (const int border : {0, 255}) {
    Image image = test::flat(20, 20, 100);
    image.masks = {mask_of(20, 20, std::vector<std::uint8_t>(400, 7))};
    image.masks[0].border = static_cast<std::uint8_t>(border);
    const auto mask = test::applied(GetParam(), image).masks.at(0);
    EXPECT_EQ(mask.border, border);
    EXPECT_EQ(mask.bytes.front(), border) << "the left upper corner";
    EXPECT_EQ(mask.bytes[mask.bytes.size() / 2 + std::size_t(mask.width) / 2], 7);
    for (const auto byte : mask.bytes) EXPECT_TRUE(byte == 7 || byte == border) << int(byte);
  }
}

INSTANTIATE_TEST_SUITE_P(Transforms, MaskBorder,
                         testing::Values(json{{"type", "pad"}, {"padding", 3}},
                                         json{{"type", "rotation"}, {"degrees", {45, 45}}},
                                         json{{"type", "affine"}, {"degrees", {45, 45}}},
                                         json{{"type", "fastai_resize"},
                                              {"size", {20, 40}},
                                              {"method", "pad"},
                                              {"pad_mode", "zeros"}}),
                         [](const auto& test) {
                           return test.param.at("type").template get<std::string>();
                         });

TEST(Overlay, BlendsTheColorOfEachClassButTheFirst) {
  Image image = test::flat(2, 1, 100);
  draw_mask(image, mask_of(2, 1, {0, 1}));
  EXPECT_THAT(image.bytes, ElementsAre(100, 100, 100, 114, 50, 50));  // (100 + 128) / 2
}

TEST(Overlay, MarksPointsThatAreInTheImage) {
  Image gray{40, 40, 1, {}, {}};
  gray.bytes.assign(gray.values(), 100);
  Image image = gray;
  draw_points(image, {{50, 10}, {NAN, NAN}});
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(std::count(image.bytes.begin(), image.bytes.end(), 100), 3 * 1600);
  draw_points(image, {{20.5, 10.5}});
  const auto at = [&](int x, int y) { return image.bytes[3 * std::size_t(y * 40 + x)]; };
  EXPECT_EQ(at(20, 10), 255);
  EXPECT_EQ(at(10, 30), 100);
}

}  // namespace
}  // namespace ddptrain
