// JPEGs that the device decodes, next to libjpeg's pixels of the same files.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "gpu/device.h"
#include "transforms/codecs/decode.h"
#include "transforms/jpeg_file.h"

namespace ddptrain::gpu {
namespace {

// Two decoders whose inverse transforms keep ITU-T T.83 are within 2 levels of each other before
// colors are converted (each within 1 of the reference), and chroma within 2 more after it was
// brought to full size by the same weights with another rounding; red and blue have up to 1.402 and
// 1.772 of chroma: 2 + 1.772 * 3 and half a level of rounding each way.
constexpr int kMost = 8;
// Roundings that are independent of each other average below one level.
constexpr double kMean = 1;

/// A slope with noise, as photographs have.
Image photograph(int width, int height, Stream& random) {
  Image image{width, height, 3, {}, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        const double value = 60 + 100.0 * x / width + 40.0 * ((c + 1) * y) / height;
        image.bytes.push_back(static_cast<std::uint8_t>(value / 1.5 + random.uniform(0, 24)));
      }
  return image;
}

struct Difference {
  int most = 0;
  double mean = 0;
};

Difference difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  Difference found;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int levels = std::abs(a[i] - b[i]);
    found.most = std::max(found.most, levels);
    found.mean += levels / double(a.size());
  }
  return found;
}

class Jpeg : public testing::Test {
 protected:
  void SetUp() override {
    try {
      decode_ = tested().jpeg_decoder(device().index());
    } catch (const Error& error) {
      GTEST_SKIP() << error.message();
    }
  }
  bool decode(const std::vector<std::uint8_t>& file, Image& into) const {
    into.bytes.assign(into.values(), 0);
    return decode_({file, into.width, into.height, into.channels, into.bytes.data()});
  }

  DeviceJpegDecoder decode_;
};

TEST_F(Jpeg, IsWithinAFewLevelsOfLibjpeg) {
  Stream random(11, 0);
  for (const auto& kind :
       {test::JpegKind{1, 1}, {2, 1}, {2, 2}, {1, 1, true}, {2, 1, true}, {2, 2, true}})
    for (const auto& [width, height] : {std::pair{224, 160}, {97, 131}, {16, 16}, {7, 5}}) {
      const auto file = test::jpeg_file(photograph(width, height, random), kind);
      for (const int channels : {3, 1}) {
        const auto near = ddptrain::decode({file, "a"}, {.channels = channels});
        Image far{width, height, channels, {}, {}};
        ASSERT_TRUE(decode(file, far));
        const auto [most, mean] = difference(far.bytes, near.bytes);
        RecordProperty("most", most);
        EXPECT_LE(most, kMost) << kind.across << kind.down << " " << width << " x " << height;
        EXPECT_LT(mean, kMean) << kind.across << kind.down << " " << width << " x " << height;
      }
    }
}

TEST_F(Jpeg, ThatIsDamagedIsNotTaken) {
  Stream random(12, 0);
  auto file = test::jpeg_file(photograph(120, 90, random), {2, 2});
  file.resize(file.size() / 2);
  Image image{120, 90, 3, {}, {}};
  EXPECT_FALSE(decode(file, image));
}

TEST_F(Jpeg, ComesBackFromManyThreads) {
  Stream random(13, 0);
  const auto file = test::jpeg_file(photograph(120, 90, random), {2, 2});
  Image first{120, 90, 3, {}, {}};
  ASSERT_TRUE(decode(file, first));
  std::vector<std::thread> threads;
  std::atomic<int> same = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        Image image{120, 90, 3, {}, {}};
        same += decode(file, image) && image.bytes == first.bytes;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(same, 160);
}

}  // namespace
}  // namespace ddptrain::gpu
