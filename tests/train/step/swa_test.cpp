// Batch-norm statistics of averaged weights.
#include "train/step/swa.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "models/layers/norm.h"
#include "support/ranks.h"
#include "support/training_parts.h"

namespace ddptrain {
namespace {

/// Sample i is (i, i * i).
class Squares final : public Dataset {
 public:
  explicit Squares(std::set<std::int64_t> bad = {}) : bad_(std::move(bad)) {}
  bool has_lengths = false;  // sample i is i + 1 long
  mutable std::vector<std::int64_t> asked;

  std::int64_t length(Split, std::int64_t index) const override {
    return has_lengths ? index + 1 : 0;
  }
  Batch allocate_length(Split split, std::int64_t rows, std::int64_t length) const override {
    asked.push_back(length);
    return allocate(split, rows);
  }
  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split) const override { return 11; }
  Batch allocate(Split, std::int64_t rows) const override {
    Batch batch;
    batch.rows = rows;
    batch.inputs = {at::empty({rows, 2}, at::kDouble)};
    batch.targets = {at::empty({rows}, at::kLong)};
    return batch;
  }
  bool load(Split, std::int64_t index, const Draw&, Batch& batch, std::int64_t row) const override {
    if (bad_.contains(index)) return false;
    auto* values = batch.inputs[0].mutable_data_ptr<double>() + 2 * row;
    values[0] = static_cast<double>(index);
    values[1] = static_cast<double>(index * index);
    return true;
  }
  std::string sample_name(Split, std::int64_t i) const override { return std::to_string(i); }
  std::int64_t label(Split, std::int64_t) const override { return -1; }
  std::string digest() const override { return "squares"; }

 private:
  std::set<std::int64_t> bad_;
  DataFacts facts_;
};

/// Input times a weight, then batch norm.
class ScaledNorm final : public Model {
 public:
  ScaledNorm() {
    factor_ = parameter("factor", at::empty({}, at::kDouble).fill_(3));
    norm_ = make<BatchNorm>("norm", 2);
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return norm_->forward(input * factor_, pass);
  }

 private:
  at::Tensor factor_;
  BatchNorm* norm_;
};

Training training(World& world) {
  Training t;
  t.world = &world;
  t.recipe.train.swa.emplace();
  t.recipe.eval.batch = Auto<std::int64_t>(4);
  t.length = {10, 10, 4};
  t.data = std::make_unique<Squares>();
  t.sampler = catalog<Sampler>().build(Choice<Sampler>("sequential"), SamplerContext{11, {}, 0});
  t.loader = make_loader(*t.data, {.workers = 0});
  EngineOptions options;
  options.numerics.parameters = at::kDouble;
  t.engine = make_single_engine([] { return std::make_unique<ScaledNorm>(); }, options);
  t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(),
                                EmaOptions{.type = Averaging::swa});
  return t;
}

double value(const std::vector<NamedTensor>& tensors, const std::string& name, std::int64_t i) {
  for (const auto& [known, tensor] : tensors)
    if (known == name) return tensor.reshape({-1})[i].item<double>();
  ADD_FAILURE() << "no " << name;
  return 0;
}

// Batches 0..3 and 4..7; the rest of three is left out. Averaged factor (3 + 1) / 2 = 2: means 3
// and 11 of the first column, variances 4 * 5/3; torch's cumulative average is their mean.
TEST(Swa, MeasuresStatisticsOfTheAverageOverWholeBatchesOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3})
    test::play_all(ranks, [](World& world) {
      auto t = training(world);
      t.ema->update();
      const auto factor = t.engine->model().named_parameters().front().tensor;
      factor.detach().fill_(1);
      t.ema->update();
      update_average_statistics(t, {});
      const auto& buffers = t.ema->buffers();
      EXPECT_DOUBLE_EQ(value(buffers, "norm.running_mean", 0), 7);
      EXPECT_DOUBLE_EQ(value(buffers, "norm.running_mean", 1), 2 * (3.5 + 31.5) / 2);
      EXPECT_NEAR(value(buffers, "norm.running_var", 0), 20.0 / 3, 1e-12);
      EXPECT_EQ(value(buffers, "norm.num_batches_tracked", 0), 2);
      // The run's own weights and statistics are as they were.
      EXPECT_EQ(factor.item<double>(), 1);
      const auto own = t.engine->model().named_buffers();
      EXPECT_EQ(value(own, "norm.running_mean", 0), 0);
      EXPECT_EQ(value(own, "norm.running_var", 0), 1);
      EXPECT_EQ(value(own, "norm.num_batches_tracked", 0), 0);
    });
}

// Pairs, since one value has no variance: 0 1, 2 3, ..., 8 9; the mean of their means is 4.5.
TEST(Swa, MeasuresStatisticsOfPairsWhereAnEvaluationBatchIsOneRow) {
  for (const int ranks : {1, 2})
    test::play_all(ranks, [](World& world) {
      auto t = training(world);
      t.recipe.eval.batch = Auto<std::int64_t>(1);
      t.ema->update();
      update_average_statistics(t, {});
      EXPECT_DOUBLE_EQ(value(t.ema->buffers(), "norm.running_mean", 0), 3 * 4.5);
      EXPECT_NEAR(value(t.ema->buffers(), "norm.running_var", 0), 9 * 0.5, 1e-12);
      EXPECT_EQ(value(t.ema->buffers(), "norm.num_batches_tracked", 0), 5);
    });
}

// Of 0..3 and 4..7 the second has one row left, which counts for nothing.
TEST(Swa, LeavesBatchesOutOfWhichBadSamplesLeaveTooLittle) {
  for (const int ranks : {1, 2})
    test::play_all(ranks, [](World& world) {
      auto t = training(world);
      t.data = std::make_unique<Squares>(std::set<std::int64_t>{4, 5, 6});
      t.loader = make_loader(*t.data, {.workers = 0});
      t.ema->update();
      update_average_statistics(t, {});
      EXPECT_DOUBLE_EQ(value(t.ema->buffers(), "norm.running_mean", 0), 3 * 1.5);
      EXPECT_EQ(value(t.ema->buffers(), "norm.num_batches_tracked", 0), 1);
    });
}

TEST(Swa, RefusesStatisticsOfNothing) {
  auto world = single_world();
  auto t = training(world);
  t.data = std::make_unique<Squares>(std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  t.loader = make_loader(*t.data, {.workers = 0});
  t.ema->update();
  try {
    update_average_statistics(t, {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_STREQ(error.what(), "train.swa.update_bn: no batch of training samples could be read");
  }
}

// As samplers of texts do: rows are as long as the longest of their batch.
TEST(Swa, MakesRowsAsLongAsTheirBatchWants) {
  auto world = single_world();
  auto t = training(world);
  auto data = std::make_unique<Squares>();
  const auto& asked = data->asked;
  data->has_lengths = true;
  t.data = std::move(data);
  t.loader = make_loader(*t.data, {.workers = 0});
  t.ema->update();
  update_average_statistics(t, {});
  EXPECT_EQ(asked, (std::vector<std::int64_t>{4, 8}));
}

TEST(Swa, LeavesStatisticsAloneWithoutAnAverageOrWhereItIsNotWanted) {
  auto world = single_world();
  auto t = training(world);
  update_average_statistics(t, {});
  EXPECT_TRUE(t.ema->buffers().empty());
  t.ema->update();
  t.recipe.train.swa->update_bn = false;
  update_average_statistics(t, {});
  EXPECT_TRUE(t.ema->buffers().empty());
}

TEST(Swa, ForgetsItsStatisticsWithTheNextWeights) {
  auto world = single_world();
  auto t = training(world);
  t.ema->update();
  update_average_statistics(t, {});
  EXPECT_EQ(t.ema->buffers().size(), 3U);
  t.ema->update();
  EXPECT_TRUE(t.ema->buffers().empty());
}

TEST(Swa, IsDueEverySoOftenAfterItsStart) {
  auto world = single_world();
  auto t = training(world);
  t.length = {20, 5, 4};
  t.recipe.train.swa->start = {0.5, Duration::Unit::share};
  std::vector<std::int64_t> due;
  for (std::int64_t step = 1; step <= 20; ++step)
    if (average_is_due(t, step)) due.push_back(step);
  EXPECT_EQ(due, (std::vector<std::int64_t>{15, 20}));
  t.recipe.train.swa.reset();
  EXPECT_TRUE(average_is_due(t, 1));  // an EMA
}

}  // namespace
}  // namespace ddptrain
