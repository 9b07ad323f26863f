#include "sources/split/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "sources/order/torch_order.h"

namespace ddptrain {
namespace {

ValidSpec held_out(double fraction, std::int64_t seed, SplitRule rule = SplitRule::philox) {
  ValidSpec spec;
  spec.fraction = fraction;
  spec.seed = seed;
  spec.order = rule;
  return spec;
}

// aten/src/ATen/native/TensorFactories.cpp draws 64 bits for each of more than 2^32 / 20.
TEST(TorchOrder, HasFewerSamplesThanTorchDrawsWith32Bits) {
  TorchGenerator generator(1);
  EXPECT_THAT([&] { torch_randperm(214'748'364, generator); },
              testing::ThrowsMessage<Error>("'order: torch' takes fewer than 214748364 samples; "
                                            "write 'order: philox'"));
}

TEST(SplitSamples, PutsEverySampleOnOneSide) {
  for (auto rule : {SplitRule::philox, SplitRule::torch, SplitRule::fastai}) {
    const auto parts = split_samples(101, held_out(0.2, 3, rule));
    EXPECT_EQ(parts.valid.size(), 20);
    auto all = parts.train;
    all.insert(all.end(), parts.valid.begin(), parts.valid.end());
    std::sort(all.begin(), all.end());
    std::vector<std::int64_t> wanted(101);
    std::iota(wanted.begin(), wanted.end(), 0);
    EXPECT_EQ(all, wanted);
  }
}

TEST(SplitSamples, KeepsTheOrderUnlessAPeersIsAsked) {
  const auto parts = split_samples(50, held_out(0.5, 3));
  EXPECT_TRUE(std::is_sorted(parts.train.begin(), parts.train.end()));
  EXPECT_TRUE(std::is_sorted(parts.valid.begin(), parts.valid.end()));
  EXPECT_NE(parts.valid, split_samples(50, held_out(0.5, 4)).valid);
}

TEST(SplitLengths, GiveWhatRoundingLeavesToTheFirst) {
  EXPECT_EQ(split_lengths(23, {0.7, 0.2, 0.1}), (std::vector<std::int64_t>{17, 4, 2}));
}

}  // namespace
}  // namespace ddptrain
