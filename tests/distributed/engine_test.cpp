// On the same batch none, dp and ddp give the same gradients, however the batch is cut.
#include "distributed/engine.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randperm.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "compare.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::HasSubstr;

const std::vector<Batch>& even() {
  static const std::vector<Batch> batches{samples(8, "a"), samples(8, "b"), samples(8, "c")};
  return batches;
}

/// The last batches of an epoch: some ranks have fewer rows, some none.
const std::vector<Batch>& uneven() {
  static const std::vector<Batch> batches{samples(7, "a"), samples(3, "b"), samples(1, "c")};
  return batches;
}

TEST(Engines, SeveralMicroBatchesAreOneLargeBatch) {
  for (const auto& batches : {even(), uneven()})
    expect_same(by_single(factory(), batches, in_double(), 2), by_single(factory(), batches));
}

TEST(Engines, DpIsOneProcess) {
  for (const auto& batches : {even(), uneven()}) {
    expect_same(by_dp(factory(), batches, in_double(), 2), by_single(factory(), batches));
    expect_same(by_dp(factory(), batches, in_double(), 4, 2), by_single(factory(), batches));
  }
}

TEST(Engines, DdpIsOneProcess) {
  for (const auto& batches : {even(), uneven()})
    for (const int ranks : {1, 2, 4})
      for (const std::int64_t accumulate : {1, 2})
        expect_same(by_ddp(factory(), batches, in_double(), ranks, accumulate),
                    by_single(factory(), batches));
}

TEST(Engines, DdpWithoutBucketViewsIsTheSame) {
  auto options = in_double();
  options.gradient_as_bucket_view = false;
  expect_same(by_ddp(factory(), uneven(), options, 2, 2), by_single(factory(), uneven()));
}

TEST(Engines, OneBucketOrManyGiveTheSame) {
  auto options = in_double();
  options.bucket_bytes = 25 << 20;
  expect_same(by_ddp(factory(), even(), options, 4), by_ddp(factory(), even(), in_double(), 4));
}

TEST(Engines, TotalsAreSummedOverRanksAndReplicas) {
  MicroStep at;
  const auto single = make_single_engine(factory(), in_double());
  const auto expected = run_window(*single, samples(7), {2, 0, 1}, at);
  EXPECT_EQ(expected.weight, 8);  // labels 0 1 2 0 1 2 0
  play_all(3, [&](World& world) {
    const auto engine = make_ddp_engine(factory(), in_double(), world);
    const auto totals = run_window(*engine, samples(7), {2, world.rank, 3}, at);
    EXPECT_NEAR(totals.loss_sum, expected.loss_sum, 1e-12);
    EXPECT_EQ(totals.weight, 8);
    EXPECT_TRUE(totals.finite);
  });
}

/// A net whose every hidden number is what its weights say, with a penalty.
Net::Options penalized(double penalty) {
  Net::Options options;
  options.penalty = penalty;
  return options;
}

// The gradient of mean(penalty) is that of a loss that holds the penalty: here by differences of
// the loss itself, along one weight, whose rows weigh 1, 0.5 and 2.
TEST(Penalties, AreAMeanOverRowsWeightedAsInTheLoss) {
  auto plain = penalized(0);
  plain.dropout = false;
  auto with = plain;
  with.penalty = 3;
  const auto batch = samples(7, "a");
  const auto gradient = [&](const Net::Options& options) {
    return by_single(factory(options), {batch})[0];
  };
  const auto added = gradient(with).sub(gradient(plain));
  const auto penalty = [&](double shift) {
    const auto first = drawn({8, 6}, "first", 0.5), offset = drawn({8}, "offset", 0.5);
    first[2][4] += shift;
    const auto hidden = at::relu(at::linear(batch.inputs[0], first, offset));
    const auto weights = at::tensor({1.0, 0.5, 2.0}, at::kDouble).index_select(0, batch.targets[0]);
    return 3 * hidden.square().mean(1).dot(weights).item<double>() / weights.sum().item<double>();
  };
  const double h = 1e-6;
  EXPECT_NEAR(added[2][4].item<double>(), (penalty(h) - penalty(-h)) / (2 * h), 1e-8);
}

TEST(Penalties, AreTheSameUnderEveryEngineHoweverTheBatchIsCut) {
  const auto model = factory(penalized(2));
  for (const auto& batches : {even(), uneven()}) {
    const auto expected = by_single(model, batches);
    expect_same(by_single(model, batches, in_double(), 2), expected);
    expect_same(by_dp(model, batches, in_double(), 2, 2), expected);
    expect_same(by_ddp(model, batches, in_double(), 1), expected);
    expect_same(by_ddp(model, batches, in_double(), 2, 2), expected);
    expect_same(by_ddp(model, batches, in_double(), 4), expected);
  }
}

TEST(Penalties, AreNotPartOfTheLossThatIsReported) {
  const auto plain = make_single_engine(factory(), in_double());
  const auto with = make_single_engine(factory(penalized(2)), in_double());
  EXPECT_EQ(run_window(*with, samples(7), {}, {}).loss_sum,
            run_window(*plain, samples(7), {}, {}).loss_sum);
}

TEST(Penalties, ThatAreNotFiniteAreSaid) {
  const auto engine =
      make_single_engine(factory(penalized(std::numeric_limits<double>::infinity())), in_double());
  EXPECT_FALSE(run_window(*engine, samples(4), {}, {}).finite);
}

TEST(Engines, InFloatOnlyRoundingDiffers) {
  EngineOptions options;
  options.bucket_bytes = 256;
  const auto model = factory({false, false, false});
  const std::vector<Batch> batches{samples(24)};
  auto permuted = batches;
  const auto order = at::randperm(24, at::kLong);
  permuted[0].inputs[0] = batches[0].inputs[0].index_select(0, order);
  permuted[0].targets[0] = batches[0].targets[0].index_select(0, order);
  const auto one = by_single(model, batches, options);
  const double rounding = distance(by_single(model, permuted, options), one);
  for (const auto& gradients :
       {by_dp(model, batches, options, 2), by_ddp(model, batches, options, 4)}) {
    EXPECT_LE(distance(gradients, one), 1e-5);
    EXPECT_LE(distance(gradients, one), 3 * std::max(rounding, 1e-7));
  }
}

TEST(UnusedParameters, HaveNoGradientInOneProcess) {
  const auto gradients = by_single(factory({true, false, true}), {samples(4), samples(4)});
  EXPECT_FALSE(gradients[2].defined());  // step 0 does not use 'spare'
  EXPECT_TRUE(gradients[6].defined());   // step 1 does
}

TEST(UnusedParameters, AreTheSameUnderEveryEngineWhereAllowed) {
  const auto model = factory({true, false, true});
  auto options = in_double();
  options.find_unused_parameters = true;
  const auto expected = by_single(model, even());
  expect_same(by_dp(model, even(), options, 2), expected);
  expect_same(by_ddp(model, even(), options, 2, 2), expected);
  options.gradient_as_bucket_view = false;
  expect_same(by_ddp(model, even(), options, 4), expected);
}

void expect_every_rank_to_say(const EngineOptions& options, std::int64_t first_step,
                              const std::string& part) {
  const auto thrown = play(make_thread_worlds(2), [&](World& world) {
    const auto engine = make_ddp_engine(factory({true, false, true}), options, world);
    MicroStep at;
    for (at.step = first_step; at.step < first_step + 2; ++at.step)
      run_window(*engine, samples(4), {1, world.rank, 2}, at);
  });
  for (const auto& error : thrown) EXPECT_THAT(test::message_of(error), HasSubstr(part));
}

TEST(UnusedParameters, AreNamedWhereNotAllowed) {
  const std::string message = "parameters received no gradient on some rank: 'spare'";
  expect_every_rank_to_say(in_double(), 0, message);  // unused on all ranks
  expect_every_rank_to_say(in_double(), 1, message);  // used by rank 0 alone
}

TEST(UnusedParameters, MustStayTheSameInAStaticGraph) {
  auto options = in_double();
  options.static_graph = true;
  expect_every_rank_to_say(options, 0, "parameters are not used as in the first step: 'spare'");
}

at::Tensor buffer(Engine& engine, std::size_t index) {
  return engine.model().named_buffers().at(index).tensor.clone();
}

/// Running mean after one plain step on some rows.
at::Tensor mean_after(const Batch& batch) {
  const auto engine = make_single_engine(factory({true, true, false}), in_double());
  run_window(*engine, batch, {}, {});
  return buffer(*engine, 0);
}

TEST(PlainBatchNorm, KeepsTheStatisticsOfReplicaZeroUnderDp) {
  auto options = in_double();
  options.replicas = 2;
  const auto engine = make_dp_engine(factory({true, true, false}), options);
  run_window(*engine, samples(8), {}, {});
  EXPECT_TRUE(at::allclose(buffer(*engine, 0), mean_after(slice(samples(8), 0, 4)), 0, 1e-15));
  EXPECT_EQ(buffer(*engine, 2).item<int>(), 1);
}

TEST(PlainBatchNorm, GivesRankZerosStatisticsToAllUnderDdp) {
  play_all(2, [](World& world) {
    const auto engine = make_ddp_engine(factory({true, true, false}), in_double(), world);
    run_window(*engine, samples(8), {1, world.rank, 2}, {});
    const auto own = mean_after(slice(samples(8), world.rank * 4, 4));
    EXPECT_TRUE(at::allclose(buffer(*engine, 0), own, 0, 1e-15));
    engine->broadcast_buffers();
    const auto first = mean_after(slice(samples(8), 0, 4));
    EXPECT_TRUE(at::allclose(buffer(*engine, 0), first, 0, 1e-15));
  });
}

TEST(PlainBatchNorm, IsLeftAloneWhereThereAreNoRows) {
  play_all(2, [](World& world) {
    const auto engine = make_ddp_engine(factory({true, true, false}), in_double(), world);
    run_window(*engine, samples(1), {1, world.rank, 2}, {});
    EXPECT_EQ(buffer(*engine, 2).item<int>(), world.rank == 0 ? 1 : 0);
  });
}

TEST(Ddp, StartsFromRankZerosWeights) {
  play_all(2, [](World& world) {
    const ModelFactory differing = [&] {
      auto net = factory({true, true, false})();
      for (const auto& named : net->state()) named.tensor.detach().add_(world.rank);
      return net;
    };
    const auto engine = make_ddp_engine(differing, in_double(), world);
    const auto expected = factory({true, true, false})()->state();
    const auto actual = engine->model().state();
    for (std::size_t i = 0; i < actual.size(); ++i)
      EXPECT_TRUE(at::equal(actual[i].tensor, expected[i].tensor)) << actual[i].name;
  });
}

TEST(Ddp, RefusesRanksWithOtherModels) {
  const auto thrown = play(make_thread_worlds(2), [](World& world) {
    make_ddp_engine(factory({true, false, world.rank == 1}), in_double(), world);
  });
  EXPECT_THAT(test::message_of(thrown[0]),
              HasSubstr("the ranks do not agree on the model's parameters"));
}

TEST(Ddp, ARankThatFailsLeavesNobodyWaiting) {
  const auto thrown = play(make_thread_worlds(2), [](World& world) {
    const auto engine = make_ddp_engine(factory(), in_double(), world);
    run_window(*engine, samples(4), {1, world.rank, 2}, {});
    if (world.rank == 1) throw std::runtime_error("out of luck");
    run_window(*engine, samples(4), {1, world.rank, 2}, {});
  });
  EXPECT_EQ(test::message_of(thrown[0]), "thread 1 of the group has ended");
}

TEST(Dp, AReplicaThatFailsStopsAllAndSaysWhy) {
  class Fragile final : public Model {
   public:
    Fragile() { parameter("weight", drawn({3, 6}, "weight")); }
    at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
      if (pass.first_row == 2) throw std::runtime_error("out of luck");
      auto sum = input.sum();
      pass.statistics->all_reduce(sum);
      return at::linear(input, named_parameters()[0].tensor);
    }
  };
  auto options = in_double();
  options.replicas = 3;
  options.sync_bn = true;
  const auto engine = make_dp_engine([] { return std::make_unique<Fragile>(); }, options);
  try {
    run_window(*engine, samples(6), {}, {});
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "out of luck");
  }
}

TEST(Numerics, MixedPrecisionKeepsWeightsAndGradientsInFloat) {
  EngineOptions options;
  const auto model = factory({false, false, false});
  const auto exact = by_single(model, {samples(16)}, options);
  options.numerics.autocast = at::kBFloat16;
  const auto engine = make_single_engine(model, options);
  const auto mixed = descend(*engine, {samples(16)}, {});
  EXPECT_EQ(engine->model().named_parameters()[0].tensor.grad().scalar_type(), at::kFloat);
  EXPECT_GT(distance(mixed, exact), 1e-4);  // bfloat16 has 8 bits
  EXPECT_LT(distance(mixed, exact), 3e-2);
  EXPECT_EQ(engine->evaluate(samples(2)).scalar_type(), at::kFloat);
}

TEST(Numerics, EvaluationMayHaveAPrecisionOfItsOwn) {
  const auto outputs = [](const Numerics& numerics) {
    EngineOptions options;
    options.numerics = numerics;
    return make_single_engine(factory(), options)->evaluate(samples(4));
  };
  const auto exact = outputs({});
  EXPECT_TRUE(at::equal(outputs({.autocast = at::kBFloat16}), exact));
  const auto rounded = outputs({.evaluation_autocast = at::kBFloat16});
  EXPECT_FALSE(at::equal(rounded, exact));  // bfloat16 has 8 bits
  EXPECT_LT(rounded.sub(exact).abs().max().item<double>(), 3e-2);
}

// The loss is finite, and no loss scale is used.
TEST(Numerics, AGradientThatIsNotFiniteIsFoundOnEachRank) {
  MicroStep at;
  at.nominal = 1 / 3e38;  // gradients are multiplied by nearly the largest float
  const auto check = [&](Engine& engine, const Cut& by) {
    const auto totals = run_window(engine, samples(4), by, at);
    EXPECT_TRUE(totals.loss_finite);
    EXPECT_FALSE(totals.finite);
  };
  check(*make_single_engine(factory(), {}), {});
  EngineOptions replicas;
  replicas.replicas = 2;
  check(*make_dp_engine(factory(), replicas), {});
  for (const auto make : {make_ddp_engine, make_zero1_engine, make_zero2_engine, make_fsdp_engine})
    play_all(2, [&](World& world) { check(*make(factory(), {}, world), {1, world.rank, 2}); });
}

TEST(Numerics, AGradientThatOverflowsUnderALossScaleIsNotFinite) {
  MicroStep at;
  at.loss_scale = 3e38;  // near the largest float
  play_all(2, [&](World& world) {
    const auto engine = make_ddp_engine(factory(), {}, world);
    EXPECT_FALSE(run_window(*engine, samples(4), {1, world.rank, 2}, at).finite);
  });
}

TEST(Numerics, AllAreFiniteUnlessOneElementOfOneTensorIsNot) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf})
    for (const std::int64_t count : {1, 7, 64, 100'003})
      for (const bool has_gaps : {false, true}) {
        const auto all = at::full({count, has_gaps ? 2 : 1}, -6e4, type);
        const auto values = all.select(1, 0);
        const std::vector<at::Tensor> tensors{at::full({4}, 6e4, type), at::empty({0}), values};
        EXPECT_TRUE(all_finite(tensors)) << type << " " << count;
        for (const double bad : {std::nan(""), infinity, -infinity}) {
          values[count - 1] = bad;
          EXPECT_FALSE(all_finite(tensors)) << type << " " << count << " " << bad;
        }
      }
  EXPECT_TRUE(all_finite({at::full({3}, std::numeric_limits<float>::max(), at::kFloat)}));
  EXPECT_TRUE(all_finite({at::full({3}, std::numeric_limits<double>::lowest(), at::kDouble)}));
  EXPECT_TRUE(all_finite({}));
  EXPECT_TRUE(all_finite({at::empty({0})}));
}

TEST(Numerics, ALossThatIsNotFiniteOnOneRankIsSaidOnAll) {
  play_all(2, [](World& world) {
    const auto engine = make_ddp_engine(factory(), in_double(), world);
    auto batch = samples(4);
    batch.inputs[0].slice(0, 2).fill_(std::nan(""));  // rank 1's rows
    EXPECT_FALSE(run_window(*engine, batch, {1, world.rank, 2}, {}).finite);
  });
}

TEST(Evaluation, NeedsNoGradientsAndDropsNothing) {
  const auto engine = make_single_engine(factory(), in_double());
  const auto output = engine->evaluate(samples(5));
  EXPECT_FALSE(output.requires_grad());
  EXPECT_TRUE(at::equal(output, engine->evaluate(samples(5))));
}

}  // namespace
}  // namespace ddptrain
