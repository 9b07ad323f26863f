#include "distributed/buckets.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "compare.h"

namespace ddptrain {
namespace {

using Layout = std::vector<std::vector<std::size_t>>;

TEST(BucketLayout, RunsFromTheLastParameterToTheFirst) {
  const std::vector<std::int64_t> bytes{4, 4, 4};
  EXPECT_EQ(bucket_layout(bytes, {100, 100}), (Layout{{2, 1, 0}}));
}

TEST(BucketLayout, BeginsWithASmallBucket) {
  const std::vector<std::int64_t> bytes{4, 4, 4, 4, 4};
  EXPECT_EQ(bucket_layout(bytes, {4, 8}), (Layout{{4}, {3, 2}, {1, 0}}));
}

TEST(BucketLayout, ClosesABucketThatHoldsItsBytes) {
  const std::vector<std::int64_t> bytes{1, 50, 3, 7};
  EXPECT_EQ(bucket_layout(bytes, {8, 8}), (Layout{{3, 2}, {1}, {0}}));
}

TEST(BucketLayout, TheFirstBucketIsNotLargerThanTheOthers) {
  const std::vector<std::int64_t> bytes{4, 4};
  EXPECT_EQ(bucket_layout(bytes, {1 << 20, 4}), (Layout{{1}, {0}}));
}

TEST(BucketLayout, EndsWithASmallBucket) {
  const std::vector<std::int64_t> bytes{1, 2, 3, 9, 4};
  EXPECT_EQ(bucket_layout(bytes, {4, 100}), (Layout{{4}, {3, 2}, {1, 0}}));
  const std::vector<std::int64_t> large_first{9, 9};  // nothing small to send alone
  EXPECT_EQ(bucket_layout(large_first, {4, 100}), (Layout{{1}, {0}}));
}

TEST(BucketLayout, OfNothingIsEmpty) { EXPECT_TRUE(bucket_layout({}, {}).empty()); }

TEST(Buckets, MakeGradientsViewsThatStayBetweenSteps) {
  const auto group = make_single_group();
  const test::Net net({});
  Buckets buckets(net.named_parameters(), {}, *group);
  const void* place = nullptr;
  for (int step = 0; step < 3; ++step) {
    for (const auto& named : net.named_parameters()) named.tensor.mutable_grad().reset();
    buckets.begin();
    buckets.release();
    for (const auto& named : net.named_parameters()) named.tensor.sum().backward();
    buckets.finish();
    buckets.assign_gradients(buckets.used());
    const auto gradient = net.named_parameters()[0].tensor.grad();
    EXPECT_EQ(gradient.sum().item<double>(), 48);  // of ones, 8 x 6
    if (step == 0) place = gradient.const_data_ptr();
    EXPECT_EQ(gradient.const_data_ptr(), place);
  }
}

TEST(Buckets, KeepTheStridesOfTheirParameters) {
  const auto group = make_single_group();
  auto weight = at::ones({2, 3, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast);
  weight.set_requires_grad(true);
  Buckets buckets({{"weight", weight}}, {}, *group);
  buckets.begin();
  weight.mul(2).sum().backward();
  EXPECT_EQ(weight.grad().strides(), weight.strides());
}

// bfloat16 has 8 bits: 1 + 2^-10 travels as 1.
TEST(Buckets, SumWhatTravelsInTheTypeOfTheWire) {
  test::play_all(2, [](World& world) {
    auto weight = at::ones({2});
    weight.set_requires_grad(true);
    Buckets buckets({{"weight", weight}}, {.wire = at::kBFloat16}, *world.gradients);
    buckets.begin();
    buckets.release();
    const auto own = world.rank == 0 ? at::tensor({1.0009765625F, 1.F}) : at::tensor({1.F, 2.F});
    weight.mul(own).sum().backward();
    buckets.finish();
    buckets.assign_gradients(buckets.used());
    EXPECT_EQ(weight.grad().scalar_type(), at::kFloat);
    EXPECT_TRUE(at::equal(weight.grad(), at::tensor({2.F, 3.F})));
  });
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Ddp, MemoryDoesNotGrowWithSteps) {
  test::play_all(2, [](World& world) {
    const auto engine = make_ddp_engine(test::factory(), {}, world);
    std::int64_t before = 0;
    for (int step = 0; step < 1200; ++step) {
      if (step == 200) before = resident_bytes();
      test::run_window(*engine, test::samples(4), {1, world.rank, 2}, {});
    }
    EXPECT_LT(resident_bytes() - before, 2 << 20);
  });
}

}  // namespace
}  // namespace ddptrain
