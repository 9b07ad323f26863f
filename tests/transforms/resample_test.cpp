#include "transforms/geometry/resample.h"

#include <gtest/gtest.h>

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

TEST(Resample, AnImageOfOnePixel) {
  const Image out = resized(test::flat(1, 1, 9), 5, 4, Interpolation::bicubic);
  EXPECT_EQ(out.bytes, test::Bytes(60, 9));
}

}  // namespace
}  // namespace ddptrain
