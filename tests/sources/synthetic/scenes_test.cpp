#include "sources/synthetic/scenes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "support/temporary_folder.h"
#include "transforms/codecs/decode.h"

namespace ddptrain {
namespace {

constexpr ScenesOptions kFew{.seed = 3, .train = 12, .val = 2, .size = 48};

template <class Decode>
Image image_in(const std::string& path, Decode decode) {
  const auto bytes = read_text(path);
  return decode({{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, path});
}

Image pixels_of(const std::string& path) {
  return image_in(path, [](const EncodedImage& file) { return decode(file); });
}

TEST(Masks, GiveEachPixelOfAnImageItsClass) {
  const TemporaryFolder folder;
  EXPECT_TRUE(make_masks(folder / "m", kFew));
  EXPECT_EQ(read_text(folder / "m/codes.txt"), "ground\ncircle\nsquare\nstar\n");
  std::set<int> met;
  for (int i = 0; i < kFew.train; ++i) {
    const auto name = "/train/" + std::string(i < 10 ? "000" : "00") + std::to_string(i) + ".png";
    const auto mask = image_in(folder / "m/masks" + name,
                               [](const EncodedImage& file) { return decode_mask(file); });
    EXPECT_EQ(mask.width, 48);
    EXPECT_EQ(pixels_of(folder / "m/images" + name).height, 48);
    met.insert(mask.bytes.begin(), mask.bytes.end());
  }
  EXPECT_EQ(met, (std::set<int>{0, 1, 2, 3, 255}));
}

TEST(Masks, AreTheSameForTheSameSeed) {
  const TemporaryFolder folder;
  make_masks(folder / "a", kFew);
  make_masks(folder / "b", kFew);
  EXPECT_EQ(read_text(folder / "a/masks/val/0001.png"), read_text(folder / "b/masks/val/0001.png"));
  EXPECT_FALSE(make_masks(folder / "a", kFew));
  EXPECT_THROW(make_masks(folder / "a", {.seed = 4}), Error);
}

// The tip of the arrow is inside it, and so is a place between it and the middle.
TEST(Points, AreTheMiddleAndTheTipOfAnArrow) {
  const TemporaryFolder folder;
  EXPECT_TRUE(make_points(folder / "p", kFew));
  const auto rows = split(read_text(folder / "p/points.csv"), '\n');
  ASSERT_EQ(rows.size(), 1 + 14 + 1);
  EXPECT_EQ(rows[0], "path,x1,y1,x2,y2,split");
  for (std::size_t i = 1; i <= 14; ++i) {
    const auto cells = split(rows[i], ',');
    EXPECT_EQ(cells.at(5), i <= 12 ? "train" : "valid");
    const auto image = pixels_of((folder / "p/") + cells[0]);
    const double x1 = *parse_number(cells[1]), y1 = *parse_number(cells[2]);
    const double x2 = *parse_number(cells[3]), y2 = *parse_number(cells[4]);
    const auto value = [&](double along, std::size_t channel) {
      const auto x = static_cast<std::size_t>(x1 + along * (x2 - x1));
      const auto y = static_cast<std::size_t>(y1 + along * (y2 - y1));
      return int{image.bytes.at(3 * (y * 48 + x) + channel)};
    };
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(value(0, c), value(0.6, c), 70) << rows[i] << ": shade and grain of one fill";
    const double length = std::hypot(x2 - x1, y2 - y1);
    EXPECT_GE(length, 0.95 * 0.16 * 48 - 0.1);
    EXPECT_LE(length, 0.95 * 0.3 * 48 + 0.1);
  }
}

}  // namespace
}  // namespace ddptrain
