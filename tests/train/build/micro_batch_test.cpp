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
#include "support/training_parts.h"

namespace ddptrain {
namespace {

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

/// Samples of two numbers, of a width of their own from epoch 3 on.
class Growing final : public Dataset {
 public:
  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split) const override { return 64; }
  Batch allocate(Split, std::int64_t rows) const override { return wide(rows, 2); }
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const override {
    return wide(rows, epoch < 3 ? 2 : 4);
  }
  std::vector<std::int64_t> changes_of_shape() const override { return {0, 3}; }
  bool load(Split, std::int64_t, const Draw&, Batch&, std::int64_t) const override { return true; }
  std::string sample_name(Split, std::int64_t i) const override { return std::to_string(i); }
  std::int64_t label(Split, std::int64_t) const override { return -1; }
  std::string digest() const override { return "growing"; }

 private:
  static Batch wide(std::int64_t rows, std::int64_t width) {
    Batch batch;
    batch.rows = rows;
    batch.inputs = {at::empty({rows, width, 2}, at::kDouble)};
    batch.targets = {at::empty({rows}, at::kLong)};
    return batch;
  }
  DataFacts facts_;
};

/// The mean over the width, times a weight, then batch norm.
class Scaled final : public Model {
 public:
  Scaled() {
    factor_ = parameter("factor", at::ones({2}, at::kDouble));
    norm_ = make<BatchNorm>("norm", 2);
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    widest = std::max(widest, input.size(1));
    return norm_->forward(input.mean(1) * factor_, pass);
  }
  std::int64_t widest = 0;

 private:
  at::Tensor factor_;
  BatchNorm* norm_;
};

/// The sum of squares; of more than `most` rows there is no memory for it.
class Bounded final : public Loss {
 public:
  explicit Bounded(std::int64_t most) : most_(most) {}
  LossTerms operator()(const at::Tensor& output, const at::Tensor&) const override {
    TORCH_CHECK_WITH(OutOfMemoryError, output.size(0) <= most_, "CUDA out of memory.");
    auto values = output.square().sum(1);
    auto weights = at::ones_like(values.detach());
    return {std::move(values), std::move(weights)};
  }

 private:
  std::int64_t most_;
};

Training training(World& world, std::int64_t most) {
  Training t;
  t.world = &world;
  t.placement.ranks = world.size;
  t.placement.batch = {64 * world.size, 64, 1, world.size};
  t.placement.find_micro = true;
  t.data = std::make_unique<Growing>();
  t.loss = std::make_unique<Bounded>(most);
  EngineOptions options;
  options.numerics.parameters = at::kDouble;
  options.sync_bn = true;
  t.engine = make_ddp_engine([] { return std::make_unique<Scaled>(); }, options, world);
  return t;
}

std::vector<at::Tensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> made;
  for (const auto& [name, tensor] : tensors) made.push_back(tensor.detach().clone());
  return made;
}

void expect_equal(const std::vector<NamedTensor>& now, const std::vector<at::Tensor>& before) {
  for (std::size_t i = 0; i < now.size(); ++i)
    EXPECT_TRUE(at::equal(now[i].tensor.detach(), before[i])) << now[i].name;
}

// Rank 1 alone has no memory: with sync_bn it must not leave rank 0 in a collective.
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
    expect_equal(model.named_parameters(), weights);
    expect_equal(model.named_buffers(), buffers);
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
