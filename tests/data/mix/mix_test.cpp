#include "data/mix.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "data/loader/loader.h"
#include "data/mix/blend.h"
#include "data/mix/mixing.h"
#include "data/numbers_dataset.h"
#include "support/node.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

std::unique_ptr<Mix> mix_of(const nlohmann::json& recipe) {
  return catalog<Mix>().build(fragment<Mix>(recipe));
}

MixDraws draws_for(std::uint64_t row, std::uint64_t batch = 0) {
  return {Stream(1, row), Stream(2, batch)};
}

/// Mixes and returns the share of the row's own targets.
double mixed_by(const Mix& mix, const std::vector<at::Tensor>& own,
                const std::vector<at::Tensor>& partner, MixDraws& draws) {
  const auto drawn = mix.draw(own, draws);
  mix_row(drawn, own, partner);
  return drawn.share;
}

std::string refusal(const nlohmann::json& recipe, const Batch& example) {
  try {
    mix_of(recipe)->check(example);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "none";
}

TEST(Partner, IsTheNeighborWithinAGlobalBatch) {
  EXPECT_EQ(partner_of(0, 4, 10), 1);
  EXPECT_EQ(partner_of(7, 4, 10), 6);
  EXPECT_EQ(partner_of(8, 4, 9), 8);   // the order ends
  EXPECT_EQ(partner_of(4, 5, 10), 4);  // the batch ends
  EXPECT_EQ(partner_of(5, 5, 10), 6);
}

TEST(Beta, HasItsMomentsAndQuantiles) {
  for (const double a : {0.05, 0.4, 0.5, 1.0, 3.0}) {
    Stream random(7, static_cast<std::uint64_t>(a * 100));
    const int n = 40000;
    double sum = 0, squares = 0;
    int below = 0;
    for (int i = 0; i < n; ++i) {
      const double x = draw_beta(a, random);
      ASSERT_TRUE(x >= 0 && x <= 1);
      sum += x;
      squares += (x - 0.5) * (x - 0.5);
      below += x < 0.1;
    }
    const double variance = 1 / (4 * (2 * a + 1));
    EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(variance / n)) << a;
    EXPECT_NEAR(squares / n, variance, 0.02 * variance) << a;
    const double quantile = a == 1 ? 0.1 : 2 / std::numbers::pi * std::asin(std::sqrt(0.1));
    if (a == 1 || a == 0.5) {
      EXPECT_NEAR(below / double(n), quantile, 0.012);
    }
  }
}

// Worked out with the arithmetic of fastai's rand_bbox.
TEST(Patch, IsCutOffAtTheEdges) {
  const auto patch = patch_at(1, 7, 0.75, 10, 8);  // sides 5 and 4
  EXPECT_EQ(patch.left, 0);
  EXPECT_EQ(patch.right, 3);
  EXPECT_EQ(patch.top, 5);
  EXPECT_EQ(patch.bottom, 8);
  EXPECT_EQ(patch_at(5, 4, 0, 10, 8).area(), 80);
  EXPECT_EQ(patch_at(5, 4, 1, 10, 8).area(), 0);
}

TEST(Mixup, KeepsARowMostlyItself) {
  const auto mix = mix_of("mixup");
  double least = 1;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::vector<at::Tensor> own{at::ones({2, 3})}, partner{at::zeros({2, 3})};
    auto draws = draws_for(i);
    const double share = mixed_by(*mix, own, partner, draws);
    least = std::min(least, share);
    EXPECT_GE(share, 0.5);
    EXPECT_FLOAT_EQ(own[0][1][2].item<float>(), static_cast<float>(share));
  }
  EXPECT_LT(least, 0.6);
}

TEST(Mixup, DrawsOncePerBatchWhereAskedAndMixesAsOftenAsAsked) {
  const auto mix = mix_of({{"type", "mixup"}, {"per", "batch"}, {"p", 0.3}, {"alpha", 1}});
  int mixed = 0;
  for (std::uint64_t batch = 0; batch < 1000; ++batch) {
    std::vector<double> shares;
    for (std::uint64_t row = 0; row < 2; ++row) {
      const std::vector<at::Tensor> own{at::ones({1})}, partner{at::zeros({1})};
      auto draws = draws_for(row, batch);
      shares.push_back(mixed_by(*mix, own, partner, draws));
    }
    EXPECT_EQ(shares[0], shares[1]);
    mixed += shares[0] < 1;
  }
  EXPECT_NEAR(mixed, 300, 75);
}

TEST(Cutmix, CountsThePixelsOfEach) {
  const auto mix = mix_of("cutmix");
  const auto layout = at::TensorOptions(at::kFloat).memory_format(at::MemoryFormat::ChannelsLast);
  for (std::uint64_t batch = 0; batch < 50; ++batch) {
    const auto rows = at::full({2, 3, 6, 9}, 1.0, layout);
    rows.select(0, 1).fill_(0);
    const std::vector<at::Tensor> own{rows.select(0, 0)}, partner{rows.select(0, 1)};
    auto draws = draws_for(0, batch);
    const double share = mixed_by(*mix, own, partner, draws);
    EXPECT_NEAR(own[0].mean().item<double>(), share, 1e-6);
    auto again = draws_for(1, batch);  // another row of the batch
    EXPECT_EQ(mixed_by(*mix, partner, partner, again), share);
  }
}

TEST(OneOf, ChoosesByWeight) {
  const auto mix = mix_of({{"type", "one_of"},
                           {"of", {{{"type", "mixup"}, {"p", 0}}, {{"type", "mixup"}, {"p", 1}}}},
                           {"weights", {3, 1}}});
  int mixed = 0;
  for (std::uint64_t batch = 0; batch < 1000; ++batch) {
    const std::vector<at::Tensor> own{at::ones({1})}, partner{at::zeros({1})};
    auto draws = draws_for(0, batch);
    mixed += mixed_by(*mix, own, partner, draws) < 1;
  }
  EXPECT_NEAR(mixed, 250, 70);
  EXPECT_EQ(test::refused<Mix>({{"type", "one_of"}, {"weights", {1}}}),
            "weights: 'weights' has 1 item, and 'of' has 2 items by default\n");
  EXPECT_EQ(test::refused<Mix>({{"type", "one_of"}, {"weights", {0, 0}}}),
            "weights: all items are 0; one at least must be above 0\n");
}

TEST(Mix, SaysWhatCannotBeMixed) {
  Batch words, table;
  words.inputs = {at::zeros({0, 4}, at::kLong)};
  table.inputs = {at::zeros({0, 4})};
  EXPECT_EQ(
      refusal("mixup", words),
      "data.mix: mixup takes means of numbers, and this data has names or words among its inputs");
  EXPECT_EQ(refusal("mixup", table), "none");
  EXPECT_EQ(refusal("cutmix", table), "data.mix: cutmix pastes boxes, and this data is no images");
  EXPECT_EQ(refusal("one_of", table), "data.mix: cutmix pastes boxes, and this data is no images");
}

/// Rows 0 .. n-1 of an epoch cut into pieces of these sizes, loaded and mixed.
std::vector<Batch> loaded(const Dataset& data, const Mix& mix, std::vector<std::int64_t> sizes,
                          int workers, std::int64_t batch) {
  LoaderOptions options;
  options.workers = workers;
  options.mix = &mix;
  EpochPlan plan;
  plan.batch = batch;
  for (std::int64_t i = 0; i < data.size(Split::train); ++i)
    plan.order.push_back(i * 7 % data.size(Split::train));
  std::int64_t position = 0;
  for (const auto size : sizes) {
    Micro micro;
    micro.first_row = position;
    for (std::int64_t i = 0; i < size; ++i) micro.positions.push_back(position++);
    plan.micros.push_back(micro);
  }
  const auto loader = make_loader(data, options);
  loader->start(std::move(plan));
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < sizes.size(); ++i) batches.push_back(loader->next());
  return batches;
}

std::vector<double> all_values(const std::vector<Batch>& batches) {
  std::vector<double> values;
  for (const auto& batch : batches)
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      for (int i = 0; i < 3; ++i) values.push_back(batch.inputs[0][row][i].item<double>());
      for (const auto& target : batch.targets) values.push_back(target[row].item<double>());
    }
  return values;
}

TEST(Mix, DoesNotDependOnPiecesOrWorkers) {
  const NumbersDataset data(20);
  const auto mix = mix_of("mixup");
  const auto whole = all_values(loaded(data, *mix, {20}, 0, 10));
  ASSERT_EQ(whole.size(), 20 * 6);
  for (const int workers : {0, 1, 3})
    for (const auto& sizes : {std::vector<std::int64_t>{7, 3, 0, 5, 5}, {1, 9, 10}, {20}})
      EXPECT_EQ(all_values(loaded(data, *mix, sizes, workers, 10)), whole);
}

TEST(Mix, GivesBothTargetsAndTheShareOfTheOwn) {
  const NumbersDataset data(9);
  const auto mix = mix_of("mixup");
  const auto batch = loaded(data, *mix, {9}, 2, 5).front();
  ASSERT_EQ(batch.targets.size(), 3U);
  int mixed = 0;
  for (std::int64_t row = 0; row < 9; ++row) {
    const double own = batch.targets[0][row].item<double>();
    const double partner = batch.targets[1][row].item<double>();
    const double share = batch.targets[2][row].item<double>();
    EXPECT_EQ(own, static_cast<double>(row * 7 % 9));
    EXPECT_EQ(partner, static_cast<double>(partner_of(row, 5, 9) * 7 % 9));
    EXPECT_NEAR(batch.inputs[0][row][0].item<double>(), share * own + (1 - share) * partner, 1e-12);
    mixed += share < 1;
  }
  EXPECT_EQ(mixed, 8);  // the fifth row is alone
}

TEST(Mix, LeavesARowAloneWhosePartnerIsBad) {
  NumbersDataset data(4);
  data.bad = {7 % 4};  // the second row
  const auto mix = mix_of("mixup");
  const auto batch = loaded(data, *mix, {2, 2}, 1, 4).front();
  ASSERT_EQ(batch.rows, 1);
  EXPECT_EQ(batch.targets[2].item<double>(), 1);
  EXPECT_EQ(batch.inputs[0][0][0].item<double>(), 0);
  const auto piece = loaded(data, *mix, {1, 3}, 1, 4).front();  // the bad one is only a partner
  ASSERT_EQ(piece.rows, 1);
  EXPECT_EQ(piece.targets[2].item<double>(), 1);
}

}  // namespace
}  // namespace ddptrain
