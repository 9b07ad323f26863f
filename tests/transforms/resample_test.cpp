#include "transforms/geometry/resample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "images.h"
#include "transforms/geometry/taps.h"

namespace ddptrain {
namespace {

constexpr Interpolation all[] = {Interpolation::nearest, Interpolation::bilinear,
                                 Interpolation::bicubic};

Image resized(const Image& image, int width, int height, Interpolation interpolation,
              bool antialias = true) {
  Window window = whole(image, width, height);
  window.interpolation = interpolation;
  window.antialias = antialias;
  Image out;
  resample(image, window, out);
  return out;
}

TEST(Taps, WeightsOfEveryPixelSumToOne) {
  for (auto interpolation : all)
    for (bool antialias : {false, true})
      for (int out : {1, 3, 7, 20, 33, 100}) {
        const auto taps = make_taps({2, 30, 40, out}, interpolation, antialias);
        for (int i = 0; i < out; ++i) {
          double sum = 0;
          for (int k = 0; k < taps.size; ++k) sum += taps.weights[std::size_t(i) * taps.size + k];
          EXPECT_NEAR(sum, 1, 1e-12);
          EXPECT_GE(taps.first[i], 2);
          EXPECT_LE(taps.first[i] + taps.count[i], 32);
        }
      }
}

TEST(Resample, SameSizeIsTheSameImage) {
  for (int channels : {1, 3})
    for (auto interpolation : all) {
      const Image image = test::numbered(19, 13, channels);
      EXPECT_EQ(resized(image, 19, 13, interpolation).bytes, image.bytes);
    }
}

TEST(Resample, AFlatImageStaysFlat) {
  for (auto interpolation : all)
    for (bool antialias : {false, true}) {
      const Image out = resized(test::flat(37, 23, 201), 11, 50, interpolation, antialias);
      EXPECT_EQ(out.bytes, test::Bytes(11 * 50 * 3, 201));
    }
}

TEST(Resample, HalvingWithAntialiasWeighsFourNeighbors) {
  Image image;  // the stretched triangle's weights at half size: 1/8 3/8 3/8 1/8
  image.width = 8;
  image.height = 1;
  image.channels = 1;
  image.floats = {0, 0, 8, 0, 0, 0, 0, 0};
  const Image out = resized(image, 4, 1, Interpolation::bilinear);
  EXPECT_NEAR(out.floats[1], 8 * 3.0 / 8, 1e-6);
  EXPECT_NEAR(out.floats[2], 0, 1e-6);
  EXPECT_NEAR(out.floats[0], 8 * 1.0 / 7, 1e-6);  // an edge has 3 + 3 + 1 eighths
}

TEST(Resample, FastIsWithinOneLevelOfExact) {
  for (int channels : {1, 3})
    for (auto [width, height] : {std::pair{40, 30}, {17, 90}, {128, 128}, {1, 1}}) {
      const Image image = test::numbered(97, 61, channels);
      Window window{3, 5, 80, 50, width, height};
      Image fast, exact;
      resample_fast(image, window, fast);
      resample(image, window, exact);
      ASSERT_EQ(fast.bytes.size(), exact.bytes.size());
      for (std::size_t i = 0; i < fast.bytes.size(); ++i)
        ASSERT_NEAR(fast.bytes[i], exact.bytes[i], 1) << i;
    }
}

/// One value of a line of one axis: the sum of the weighted values below.
template <class Value>
Value weighted_sum(const Taps& taps, int i, const std::function<Value(int, double)>& term) {
  Value sum = 0;
  for (int k = 0; k < taps.count[i]; ++k)
    sum += term(taps.first[i] + k, taps.weights[std::size_t(i) * taps.size + k]);
  return sum;
}

/// Pillow's Resample.c, 8bpc: weights of 22 bits after the point, a byte after each axis.
int pillow_sum(const Taps& taps, int i, const std::function<int(int)>& value) {
  const auto sum = weighted_sum<std::int64_t>(taps, i, [&](int at, double weight) {
    return std::int64_t((weight < 0 ? -0.5 : 0.5) + weight * (1 << 22)) * value(at);
  });
  return static_cast<int>(std::clamp<std::int64_t>((sum + (1 << 21)) >> 22, 0, 255));
}

TEST(Resample, EveryWidthAndNumberOfTapsIsAsPillowSays) {
  for (int channels : {1, 3})
    for (auto interpolation : all)
      for (bool antialias : {false, true})
        for (int width = 1; width <= 13; ++width)
          for (int from : {1, 4, 9, 31, 64}) {
            const Image image = test::numbered(from, 11, channels);
            Window window = whole(image, width, 1 + width % 5);
            window.interpolation = interpolation;
            window.antialias = antialias;
            const auto x = make_taps({0, double(from), from, width}, interpolation, antialias);
            const auto y = make_taps({0, 11, 11, window.out_height}, interpolation, antialias);
            Image exact, fast;
            resample(image, window, exact);
            resample_fast(image, window, fast);
            for (std::size_t i = 0; i < exact.values(); ++i) {
              const int c = int(i) % channels, column = int(i) / channels % width;
              const int row = int(i) / channels / width;
              const auto byte = [&](int above, int before) {
                return image.bytes[(std::size_t(above) * from + before) * channels + c];
              };
              ASSERT_EQ(exact.bytes[i], pillow_sum(y, row, [&](int above) {
                          return pillow_sum(x, column, [&](int at) { return byte(above, at); });
                        }));
              const auto sum = weighted_sum<double>(y, row, [&](int above, double down) {
                return down * weighted_sum<double>(x, column, [&](int at, double across) {
                         return across * byte(above, at);
                       });
              });
              ASSERT_NEAR(fast.bytes[i], std::clamp(sum, 0.0, 255.0), 0.501);
            }
          }
}

TEST(Resample, AnImageOfOnePixel) {
  const Image out = resized(test::flat(1, 1, 9), 5, 4, Interpolation::bicubic);
  EXPECT_EQ(out.bytes, test::Bytes(60, 9));
}

}  // namespace
}  // namespace ddptrain
