#include "data/loader/lengths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "data/loader/loader.h"
#include "data/numbers_dataset.h"
#include "sources/order/length_order.h"
#include "sources/sampler.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using Lengths = std::vector<std::int64_t>;

/// Long-tailed, as reviews are.
Lengths review_lengths(std::int64_t n) {
  Lengths lengths;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(i * 7919 % n) / static_cast<double>(n);
    lengths.push_back(20 + static_cast<std::int64_t>(150 / (1.08 - x)));
  }
  return lengths;
}

Lengths order_of(const nlohmann::json& sampler, const Lengths& lengths, std::int64_t global,
                 std::int64_t epoch = 0) {
  const SamplerContext context{static_cast<std::int64_t>(lengths.size()), {}, 5, lengths, global};
  return catalog<Sampler>().build(fragment<Sampler>(sampler), context)->order(epoch);
}

TEST(LengthSorted, IsAnotherPermutationInEachEpoch) {
  const auto lengths = review_lengths(1000);
  for (const char* rule : {"balanced", "fastai"}) {
    std::set<Lengths> seen;
    for (const std::int64_t epoch : {0, 1, 2}) {
      auto order = order_of({{"type", "length_sorted"}, {"order", rule}}, lengths, 32, epoch);
      seen.insert(order);
      std::sort(order.begin(), order.end());
      Lengths all(1000);
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(order, all);
    }
    EXPECT_EQ(seen.size(), 3);
  }
}

TEST(LengthSorted, BeginsWithTheLongestSample) {
  const auto lengths = review_lengths(1000);
  const auto order = order_of("length_sorted", lengths, 32);
  const auto longest = std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
  EXPECT_NE(std::find(order.begin(), order.begin() + 32, longest), order.begin() + 32);
}

TEST(LengthSorted, LeavesOutSamplesOfAllLengths) {
  const auto lengths = review_lengths(1000);
  const auto order = order_of("length_sorted", lengths, 96);  // 40 samples are left over
  double mean = 0, left_over = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto length = static_cast<double>(lengths[static_cast<std::size_t>(order[i])]);
    mean += length / 1000;
    if (i >= 960) left_over += length / 40;
  }
  EXPECT_NEAR(left_over / mean, 1, 0.5);
}

TEST(LengthSorted, KeepsPaddingSmallAndRanksEqual) {
  const auto lengths = review_lengths(25000);
  for (const std::int64_t global : {64, 128}) {
    const auto order = order_of("length_sorted", lengths, global);
    double padded = 0, tokens = 0;
    std::vector<double> imbalance(9);
    const auto steps = static_cast<std::int64_t>(order.size()) / global;
    for (std::int64_t step = 0; step < steps; ++step) {
      const auto at = [&](std::int64_t row) {
        return lengths[static_cast<std::size_t>(order[static_cast<std::size_t>(row)])];
      };
      std::int64_t longest = 0, sum = 0;
      for (auto row = step * global; row < (step + 1) * global; ++row) {
        longest = std::max(longest, at(row));
        sum += at(row);
      }
      padded += static_cast<double>(longest * global);
      tokens += static_cast<double>(sum);
      for (const std::int64_t world : {2, 4, 8}) {
        Lengths of_rank(static_cast<std::size_t>(world));
        for (std::int64_t row = 0; row < global; ++row)
          of_rank[static_cast<std::size_t>(row * world / global)] += at(step * global + row);
        const auto [least, most] = std::minmax_element(of_rank.begin(), of_rank.end());
        imbalance[static_cast<std::size_t>(world)] +=
            static_cast<double>(*most) / static_cast<double>(*least) - 1;
      }
    }
    EXPECT_LT(1 - tokens / padded, 0.08);
    for (const std::size_t world : {2, 4, 8})
      EXPECT_LT(imbalance[world] / static_cast<double>(steps), 0.05) << world;
  }
}

TEST(LengthSorted, RefusesSamplesThatAreAllAlike) {
  EXPECT_THAT(
      [] {
        catalog<Sampler>().build(fragment<Sampler>("length_sorted"), SamplerContext{5, {}, 1});
      },
      testing::ThrowsMessage<Error>(
          "data.sampler: 'length_sorted' is for samples of different lengths, and these are all "
          "alike; 'shuffle' gives a random order"));
}

/// Samples whose length is their number plus one, and rows that tell how long they were made.
class StairsDataset final : public Dataset {
 public:
  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split) const override { return 20; }
  std::int64_t length(Split, std::int64_t index) const override { return index + 1; }
  Batch allocate(Split split, std::int64_t rows) const override {
    return allocate_length(split, rows, 1);
  }
  Batch allocate_length(Split, std::int64_t rows, std::int64_t length) const override {
    Batch batch;
    batch.rows = rows;
    batch.inputs.push_back(at::empty({rows, length}, at::kLong));
    batch.targets.push_back(at::empty({rows}, at::kLong));
    return batch;
  }
  bool load(Split, std::int64_t, const Draw&, Batch&, std::int64_t) const override { return true; }
  std::string sample_name(Split, std::int64_t) const override { return ""; }
  std::int64_t label(Split, std::int64_t) const override { return -1; }
  std::string digest() const override { return ""; }

 private:
  DataFacts facts_;
};

TEST(StepLengths, AreThoseOfTheGlobalBatchHoweverItIsCut) {
  Lengths lengths(20);
  std::iota(lengths.begin(), lengths.end(), 1);
  for (const std::int64_t world : {1, 2, 3})
    for (const std::int64_t accumulate : {1, 2}) {
      ShardPlan plan;
      plan.world = world;
      plan.global = 6;
      plan.accumulate = accumulate;
      EXPECT_EQ(step_lengths(lengths, plan), (Lengths{6, 12, 18}));
      auto steps = shard(20, plan, world - 1);
      set_lengths(steps, step_lengths(lengths, plan));
      for (const auto& micro : steps.at(1)) EXPECT_EQ(micro.length, 12);
    }
  ShardPlan contiguous;
  contiguous.layout = Layout::contiguous;
  contiguous.world = 2;
  contiguous.global = 4;  // rank 0 has positions 0 .. 9, rank 1 has 10 .. 19, two at a time
  EXPECT_EQ(step_lengths(lengths, contiguous), (Lengths{12, 14, 16, 18, 20}));
}

TEST(Loader, MakesRowsAsLongAsItsStepNeeds) {
  const StairsDataset data;
  EpochPlan plan;
  plan.order = longest_first(data, Split::valid);
  EXPECT_EQ(plan.order.front(), 19);
  plan.micros = evaluation_batches({20, 8}, 0, 1);
  set_lengths(plan.micros, lengths_of(data, Split::valid, plan.order));
  for (const int workers : {0, 2}) {
    LoaderOptions options;
    options.split = Split::valid;
    options.workers = workers;
    const auto loader = make_loader(data, options);
    for (int epoch = 0; epoch < 2; ++epoch) {
      loader->start(plan);
      for (const std::int64_t length : {20, 12, 4})
        EXPECT_EQ(loader->next().inputs.at(0).size(1), length);
    }
  }
}

TEST(Lengths, AreNoneWhereSamplesAreAllAlike) {
  const NumbersDataset data(5);
  EXPECT_TRUE(lengths_of(data, Split::train).empty());
  EXPECT_EQ(longest_first(data, Split::train), (Lengths{0, 1, 2, 3, 4}));
  ShardPlan plan;
  EXPECT_TRUE(step_lengths({}, plan).empty());
}

}  // namespace
}  // namespace ddptrain
