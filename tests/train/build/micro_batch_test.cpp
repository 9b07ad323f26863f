// batch.micro: auto, with ranks as threads and memory that ends where a test says.
#include "train/build/micro_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/layers/norm.h"
#include "support/ranks.h"
#include "train/build/bounded_training.h"

namespace ddptrain {
namespace {

using namespace test;

using testing::ElementsAre;

/// What rank 0 of `ranks` settles on where rank 1 has room for `most` samples, and the sizes that
/// were tried on the way.
struct Search {
  BatchPlan found;
  std::vector<std::int64_t> tried;
};

Search search(const BatchPlan& planned, std::int64_t most) {
  std::vector<Search> ranks(static_cast<std::size_t>(planned.devices));
  test::play_all(static_cast<int>(planned.devices), [&](World& world) {
    auto& mine = ranks[static_cast<std::size_t>(world.rank)];
    mine.found = find_micro(planned, *world.control, [&](std::int64_t micro) {
      mine.tried.push_back(micro);
      return world.rank != 1 || micro <= most;
    });
  });
  for (const auto& each : ranks) {
    EXPECT_EQ(to_text(each.found), to_text(ranks[0].found));
    EXPECT_EQ(each.tried, ranks[0].tried);
  }
  return ranks[0];
}

TEST(MicroBatch, StaysAsPlannedWhereItFits) {
  const auto done = search({128, 64, 1, 2}, 64);
  EXPECT_EQ(to_text(done.found), "global 128 = micro 64 x accumulate 1 x 2 devices");
  EXPECT_THAT(done.tried, ElementsAre(64));
}

TEST(MicroBatch, IsHalvedByAllRanksWhereOneHasNoRoom) {
  const auto done = search({192, 64, 1, 3}, 31);
  EXPECT_EQ(to_text(done.found), "global 192 = micro 16 x accumulate 4 x 3 devices");
  EXPECT_THAT(done.tried, ElementsAre(64, 32, 16));
}

TEST(MicroBatch, CutsTheStepEvenly) {
  EXPECT_THAT(search({48, 24, 1, 2}, 2).tried, ElementsAre(24, 12, 6, 3, 1));
  const auto prime = search({14, 7, 1, 2}, 3);
  EXPECT_EQ(to_text(prime.found), "global 14 = micro 1 x accumulate 7 x 2 devices");
}

TEST(MicroBatch, EndsEveryRankWhereASampleIsTooMuch) {
  const auto thrown = test::play(make_thread_worlds(2), [](World& world) {
    find_micro({8, 4, 1, 2}, *world.control, [&](std::int64_t) { return world.rank != 1; });
  });
  for (const auto& error : thrown) {
    ASSERT_TRUE(error);
    try {
      std::rethrow_exception(error);
    } catch (const Error& known) {
      EXPECT_EQ(known.code(), Exit::memory);
      EXPECT_STREQ(known.what(),
                   "out of memory: batch.micro auto: not even one sample fits on 1 device; a "
                   "smaller model or smaller samples need less");
    }
  }
}

std::vector<at::Tensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> made;
  for (const auto& [name, tensor] : tensors) made.push_back(tensor.detach().clone());
  return made;
}

void expect_unchanged(const std::vector<NamedTensor>& now, const std::vector<at::Tensor>& before) {
  for (std::size_t i = 0; i < now.size(); ++i)
    EXPECT_TRUE(at::equal(now[i].tensor.detach(), before[i])) << now[i].name;
}

// Rank 1 alone has no memory: with sync_bn it must not leave rank 0 in a collective.
TEST(MicroBatch, OfASizeThatCannotBeTrainedMeansTooLittleMemory) {
  const auto thrown = test::play(make_thread_worlds(2), [](World& world) {
    find_micro({8, 4, 1, 2}, *world.control, [](std::int64_t micro) {
      if (micro == 1) throw Error(Exit::recipe, "batch norm: one value has no variance");
      return false;
    });
  });
  for (const auto& error : thrown)
    EXPECT_THAT([&] { std::rethrow_exception(error); },
                testing::ThrowsMessage<Error>(
                    "out of memory: batch.micro auto: 4, 2 did not fit, and 1 cannot be trained "
                    "(batch norm: one value has no variance)"));
}

TEST(MicroBatch, IsTriedWithoutATrace) {
  test::play_all(2, [](World& world) {
    auto t = training(world, world.rank == 1 ? 20 : 1000);
    auto& model = t.engine->model();
    const auto weights = copies(model.named_parameters());
    const auto buffers = copies(model.named_buffers());
    int trials = 0;
    EXPECT_EQ(to_text(fitting_batch(t, [&] { ++trials; })),
              "global 128 = micro 16 x accumulate 4 x 2 devices");
    EXPECT_EQ(trials, 3);
    EXPECT_EQ(dynamic_cast<Scaled&>(model).widest, 4);
    expect_unchanged(model.named_parameters(), weights);
    expect_unchanged(model.named_buffers(), buffers);
    for (const auto& [name, parameter] : model.named_parameters())
      EXPECT_FALSE(parameter.grad().defined()) << name;
  });
}

TEST(MicroBatch, IsNotTriedWhereTheRecipeSaysIt) {
  auto world = single_world();
  auto t = training(world, 1);
  t.placement.find_micro = false;
  EXPECT_EQ(fitting_batch(t).micro, 64);
}

TEST(MicroBatch, KeepsATwentiethOfTheMemory) {
  EXPECT_TRUE(keeps_room({.peak_reserved = 950, .total = 1000}));
  EXPECT_FALSE(keeps_room({.peak_reserved = 951, .total = 1000}));
  EXPECT_TRUE(keeps_room({.peak_reserved = 951, .total = 0}));  // not counted
}

TEST(MicroBatch, PassesOtherErrorsOn) {
  auto world = single_world();
  auto t = training(world, 1000);
  EXPECT_TRUE(fits_in_memory(t, 8));
  class Broken final : public Loss {
   public:
    LossTerms operator()(const at::Tensor&, const at::Tensor&) const override {
      throw Error(Exit::recipe, "no such thing");
    }
  };
  t.loss = std::make_unique<Broken>();
  EXPECT_THROW(fits_in_memory(t, 8), Error);
}

}  // namespace
}  // namespace ddptrain
