// Images that a device makes of bytes are the host's.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "data/image/normalize_images.h"
#include "data/mix/blend.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

/// Every value of three channels, which differ, in two rows.
at::Tensor every_value() {
  const auto values = at::arange(256 * 3 * 2).view({2, 3, 16, 16});
  return values.add(values.div(256, "floor").mul(11)).remainder(256).to(at::kByte);
}

void set_imagenet(PixelScale& scale) {
  for (const double deviation : {0.229, 0.224, 0.225})
    scale.factor.push_back(static_cast<float>(1 / (255 * deviation)));
  scale.offset = {static_cast<float>(-0.485 / 0.229), static_cast<float>(-0.456 / 0.224),
                  static_cast<float>(-0.406 / 0.225)};
}

TEST(PixelsOnADevice, AreTheHostsBitForBitWithoutAWait) {
  const auto device = test::simulated_device();
  PixelScale scale;
  set_imagenet(scale);
  scale.fill = {0, 1.5, -1};
  const auto boxes =
      at::tensor({0, 0, 0, 0, 2, 3, 9, 16, 1, 1, 16, 2, 5, 5, 6, 6}, at::kInt).view({2, 2, 4});
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast})
    for (const bool erased : {false, true}) {
      const auto pixels = every_value().contiguous(format);
      std::vector<at::Tensor> here{pixels}, there{pixels.to(device)};
      if (erased) {
        here.push_back(boxes);
        there.push_back(boxes.to(device));
      }
      finished_pixels(there, scale, at::kFloat);  // brings the constants
      simulated::reset();
      const auto finished = finished_pixels(there, scale, at::kDouble).at(0);
      EXPECT_EQ(simulated::counts().waited(), 0);
      EXPECT_EQ(simulated::counts().from_pageable, 0);
      EXPECT_TRUE(finished.is_contiguous(format));
      const auto expected = finished_pixels(here, scale, at::kFloat).at(0);
      EXPECT_TRUE(at::equal(finished.cpu(), expected.to(at::kDouble)));
      if (!erased) continue;
      EXPECT_EQ(expected[0][1][2][3].item<float>(), 1.5F);
      EXPECT_EQ(expected[1][2][15][1].item<float>(), -1.0F);
    }
}

// A blend, a patch, a row that stays alone.
TEST(PixelsOnADevice, AreMixedByOneOperatorAsTheHostMixesThem) {
  const auto device = test::simulated_device();
  PixelScale scale;
  set_imagenet(scale);
  const auto pixels = at::cat({every_value(), every_value().slice(0, 0, 1)});
  const auto partners = pixels.flip({0});
  const auto mixes =
      at::tensor({0.F, 0.F, 16.F, 16.F, 0.7F, 3.F, 2.F, 9.F, 16.F, 0.F, 0.F, 0.F, 0.F, 0.F, 0.F})
          .view({3, 5});
  const std::vector<at::Tensor> there{pixels.to(device), partners.to(device), mixes.to(device)};
  finished_pixels(there, scale, at::kFloat);  // brings the constants
  simulated::reset();
  const auto finished = finished_pixels(there, scale, at::kFloat).at(0);
  EXPECT_EQ(simulated::counts().operators, 1);
  EXPECT_EQ(simulated::counts().waited(), 0);
  const auto expected = finished_pixels({pixels}, scale, at::kFloat).at(0);
  const auto others = finished_pixels({partners}, scale, at::kFloat).at(0);
  blend(expected[0], others[0], 0.7);
  paste(expected[1], others[1], {.left = 2, .top = 3, .right = 16, .bottom = 9});
  EXPECT_TRUE(at::equal(finished.cpu(), expected));
}

// As the host's loop: two roundings.
TEST(PixelsOnADevice, AreRoundedAfterTheProductAndAfterTheSum) {
  PixelScale scale;
  set_imagenet(scale);
  const auto pixels = every_value();
  const auto finished = finished_pixels({pixels}, scale, at::kFloat).at(0).contiguous();
  for (std::int64_t i = 0; i < pixels.numel(); ++i) {
    const auto channel = static_cast<std::size_t>(i / 256 % 3);
    const volatile float product =
        static_cast<float>(pixels.const_data_ptr<std::uint8_t>()[i]) * scale.factor[channel];
    ASSERT_EQ(finished.const_data_ptr<float>()[i], product + scale.offset[channel]);
  }
}

}  // namespace
}  // namespace ddptrain
