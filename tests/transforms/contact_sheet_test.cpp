#include "transforms/preview/contact_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "images.h"
#include "transforms/codecs/write.h"
#include "transforms/pipeline/pipeline.h"

namespace ddptrain {
namespace {

/// Pixels of a sheet that are not white, in a rectangle.
int inked(const Image& sheet, int left, int top, int width, int height) {
  int count = 0;
  for (int y = top; y < top + height; ++y)
    for (int x = left; x < left + width; ++x)
      if (sheet.bytes[3 * (std::size_t(y) * sheet.width + x)] != 255) ++count;
  return count;
}

Image decoded(const std::string& file) {
  Image image;
  const test::Bytes bytes(file.begin(), file.end());
  decode({bytes, "sheet.png"}, {}, image);
  return image;
}

TEST(WritePng, IsReadAsItWas) {
  const auto image = test::numbered(7, 5);
  EXPECT_EQ(decoded(encode_png(image)).bytes, image.bytes);
  const auto gray = test::numbered(7, 5, 1);
  const auto read = decoded(encode_png(gray));
  for (std::size_t i = 0; i < gray.bytes.size(); ++i) ASSERT_EQ(read.bytes[3 * i], gray.bytes[i]);
}

// 128 pixels an image, 8 around it, 16 of a line and 8 more above it.
TEST(ContactSheet, IsAGridWithRoomForCaptions) {
  const auto sheet = contact_sheet(std::vector<Captioned>(5, {test::flat(128, 128, 10), ""}));
  EXPECT_EQ(sheet.width, 3 * 144);
  EXPECT_EQ(sheet.height, 2 * 168);
  EXPECT_EQ(inked(sheet, 8, 8, 128, 128), 128 * 128);
  EXPECT_EQ(inked(sheet, 0, 0, sheet.width, sheet.height), 5 * 128 * 128);
  EXPECT_EQ(inked(sheet, 2 * 144, 168, 144, 168), 0);  // the sixth place is empty
}

TEST(ContactSheet, EnlargesSmallImagesByAWholeFactor) {
  auto image = test::flat(32, 32, 255);
  for (int c = 0; c < 3; ++c) image.bytes[static_cast<std::size_t>(c)] = 0;  // one black pixel
  const auto sheet = contact_sheet({{image, ""}});
  EXPECT_EQ(inked(sheet, 8, 8, 4, 4), 16);
  EXPECT_EQ(inked(sheet, 0, 0, sheet.width, sheet.height), 16);
}

TEST(ContactSheet, DrawsCaptionsBelow) {
  const auto ink = [](const std::string& caption) {
    const auto sheet = contact_sheet({{test::flat(128, 128, 255), caption}});
    EXPECT_EQ(inked(sheet, 0, 0, 144, 8 + 128 + 8), 0);
    return inked(sheet, 0, 144, 144, 16);
  };
  EXPECT_EQ(ink("I"), 4 * (2 + 7 + 2));  // a bar of seven with serifs, each pixel four
  EXPECT_EQ(ink("III"), 3 * ink("I"));
  EXPECT_EQ(ink("\xC3\xA9"), ink("?"));                     // one character
  EXPECT_EQ(ink("IIIIIIIIII"), 10 * ink("I"));              // ten fit into 128
  EXPECT_EQ(ink("IIIIIIIIIII"), 8 * ink("I") + ink(".."));  // eleven do not
}

// A line is 16 high, 4 between two, and every image has room for those of the longest caption.
TEST(ContactSheet, DrawsLinesOfACaptionBelowEachOther) {
  const auto sheet =
      contact_sheet({{test::flat(128, 128, 255), "I"}, {test::flat(128, 128, 255), "I\nII"}});
  EXPECT_EQ(sheet.height, 168 + 4 + 16);
  const int one = inked(sheet, 0, 144, 144, 16);
  EXPECT_GT(one, 0);
  EXPECT_EQ(inked(sheet, 0, 160, 144, 20), 0);
  EXPECT_EQ(inked(sheet, 144, 144, 144, 16), one);
  EXPECT_EQ(inked(sheet, 144, 164, 144, 16), 2 * one);
}

TEST(ContactSheet, DrawsGrayImagesGray) {
  const auto sheet = contact_sheet({{test::numbered(128, 128, 1), ""}});
  const auto* first = sheet.bytes.data() + 3 * (8 * 144 + 8 + 5);
  for (int c = 0; c < 3; ++c) EXPECT_EQ(first[c], 35);  // 5 * 7
}

/// What a list of transforms writes, shown again.
Image shown(const nlohmann::json& list, const Image& image) {
  std::vector<Choice<Transform>> steps;
  for (const auto& item : list) steps.push_back(fragment<Transform>(item));
  const Pipeline pipeline(steps, {.channels = image.channels});
  const Extent extent{image.channels, image.height, image.width};
  std::vector<float> row(image.values());
  pipeline.load(Image(image), "image", {}, extent, row.data());
  return pipeline.shown(row.data(), extent);
}

TEST(Pipeline, ShowsWhatItNormalizedAsItWas) {
  const nlohmann::json normalize{{"type", "normalize"}, {"preset", "imagenet"}};
  const nlohmann::json flip{{"type", "horizontal_flip"}, {"p", 0}};
  const auto image = test::numbered(9, 4);
  for (const auto& list : {nlohmann::json::array(), nlohmann::json::array({normalize}),
                           nlohmann::json::array({normalize, flip})})
    EXPECT_EQ(shown(list, image).bytes, image.bytes) << list;
  const nlohmann::json gray{{"type", "normalize"}, {"preset", "mnist"}};
  const auto digit = test::numbered(6, 6, 1);
  EXPECT_EQ(shown(nlohmann::json::array({gray}), digit).bytes, digit.bytes);
}

}  // namespace
}  // namespace ddptrain
