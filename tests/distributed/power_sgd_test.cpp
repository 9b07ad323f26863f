#include "distributed/power_sgd.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

#include "compare.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kRows = 6, kColumns = 5;

at::Tensor drawn_gradient(std::int64_t step, int rank) {
  const auto i = at::arange(kRows * kColumns, at::kDouble);
  return at::sin(i * (1.3 + rank) + 0.7 * static_cast<double>(step)).view({kRows, kColumns});
}

/// What the gradients of all ranks become.
at::Tensor sent(PowerSgd& power_sgd, const at::Tensor& own, std::int64_t step, bool sound = true) {
  auto gradient = own.clone();
  const auto transfer = power_sgd.send({{"weight", gradient}}, step);
  transfer->all_reduce_q();
  transfer->finish();
  power_sgd.settle(at::full({}, sound, at::kBool), {});
  return gradient;
}

at::Tensor sum_of(Group& group, const at::Tensor& own) {
  auto sum = own.clone();
  group.all_reduce(sum);
  return sum;
}

at::Tensor error_of(const std::vector<NamedTensor>& state) {
  at::Tensor sum;
  for (const auto& [name, tensor] : state)
    if (name.find(".error.") != std::string::npos) sum = sum.defined() ? sum + tensor : tensor;
  return sum;
}

const PowerSgdOptions kRankOne{.rank = 1, .start = 0, .min_compression_rate = 1};

TEST(PowerSgd, OfFullRankIsTheSum) {
  for (const std::int64_t rank : {5, 7})
    test::play_all(3, [rank](World& world) {
      PowerSgd power_sgd({.rank = rank, .start = 0, .min_compression_rate = 0.1}, *world.gradients,
                         {});
      const auto own = drawn_gradient(0, world.rank);
      EXPECT_TRUE(
          at::allclose(sent(power_sgd, own, 0), sum_of(*world.gradients, own), 1e-10, 1e-12));
    });
}

// Vogels et al. 2019, algorithm 2: nothing is lost, only late.
TEST(PowerSgd, SumsOfWhatWasSentAndErrorsAreTheGradients) {
  test::play_all(2, [](World& world) {
    PowerSgd power_sgd(kRankOne, *world.gradients, {});
    auto gradients = at::zeros({kRows, kColumns}, at::kDouble), all = gradients.clone();
    for (std::int64_t step = 0; step < 5; ++step) {
      gradients += sum_of(*world.gradients, drawn_gradient(step, world.rank));
      all += sent(power_sgd, drawn_gradient(step, world.rank), step);
    }
    EXPECT_FALSE(at::allclose(all, gradients, 1e-3, 1e-3));
    const auto state = power_sgd.gather_state();
    if (world.rank != 0) return;
    EXPECT_TRUE(at::allclose(all + error_of(state), gradients, 1e-10, 1e-12));
  });
}

TEST(PowerSgd, IsTheSameOnEveryRank) {
  test::play_all(3, [](World& world) {
    PowerSgd power_sgd(kRankOne, *world.gradients, {});
    for (std::int64_t step = 0; step < 3; ++step) {
      const auto own = sent(power_sgd, drawn_gradient(step, world.rank), step);
      auto first = own.clone();
      world.gradients->broadcast(first, 0);
      EXPECT_TRUE(at::equal(own, first));
    }
  });
}

TEST(PowerSgd, ResumesToTheBit) {
  test::play_all(2, [](World& world) {
    PowerSgd whole(kRankOne, *world.gradients, {}), resumed(kRankOne, *world.gradients, {});
    for (std::int64_t step = 0; step < 3; ++step)
      sent(whole, drawn_gradient(step, world.rank), step);
    // Every rank reads the checkpoint of rank 0, in which all have their errors.
    auto state = whole.gather_state();
    if (world.rank != 0) {
      state = {{"weight.q", state.at(0).tensor.clone()},
               {"weight.error.0", at::zeros({kRows, kColumns}, at::kDouble)},
               {"weight.error.1", at::zeros({kRows, kColumns}, at::kDouble)}};
    }
    for (auto& named : state) world.gradients->broadcast(named.tensor, 0);
    resumed.load(state);
    EXPECT_TRUE(at::equal(sent(whole, drawn_gradient(3, world.rank), 3),
                          sent(resumed, drawn_gradient(3, world.rank), 3)));
  });
}

TEST(PowerSgd, KnowsTheSizeOfItsStateBeforeTheFirstStep) {
  test::play_all(2, [](World& world) {
    PowerSgd power_sgd(kRankOne, *world.gradients, {});
    const auto weight = at::zeros({kRows, kColumns}, at::kDouble).requires_grad_();
    const auto bias = at::zeros({kColumns}, at::kDouble).requires_grad_();
    const auto reported = power_sgd.state_bytes({{"weight", weight}, {"bias", bias}});
    sent(power_sgd, drawn_gradient(0, world.rank), 0);
    std::size_t bytes = 0;
    for (const auto& named : power_sgd.gather_state()) bytes += named.tensor.nbytes();
    if (world.rank != 0) return;
    EXPECT_EQ(reported, static_cast<std::int64_t>(bytes));
  });
}

TEST(PowerSgd, OnOtherRanksKeepsTheSumOfErrors) {
  std::vector<NamedTensor> state;
  for (int rank = 0; rank < 3; ++rank)
    state.push_back({"weight.error." + std::to_string(rank), drawn_gradient(1, rank)});
  test::play_all(2, [&](World& world) {
    PowerSgd power_sgd(kRankOne, *world.gradients, {});
    power_sgd.load(state);
    const auto gathered = power_sgd.gather_state();
    if (world.rank != 0) return;
    EXPECT_TRUE(at::allclose(error_of(gathered), error_of(state), 1e-12, 1e-14));
  });
}

TEST(PowerSgd, AStepThatIsNotMadeIsForgotten) {
  test::play_all(2, [](World& world) {
    PowerSgd power_sgd(kRankOne, *world.gradients, {}), other(kRankOne, *world.gradients, {});
    for (auto* each : {&power_sgd, &other}) sent(*each, drawn_gradient(0, world.rank), 0);
    sent(power_sgd, drawn_gradient(1, world.rank), 1, false);
    const auto infinite =
        at::full({kRows, kColumns}, std::numeric_limits<double>::infinity(), at::kDouble);
    sent(power_sgd, infinite, 1);  // says itself that it was not sound
    EXPECT_TRUE(at::equal(sent(power_sgd, drawn_gradient(2, world.rank), 2),
                          sent(other, drawn_gradient(2, world.rank), 2)));
  });
}

TEST(PowerSgd, SendsZerosAsZeros) {
  test::play_all(2, [](World& world) {
    PowerSgd power_sgd({.rank = 2, .start = 0, .min_compression_rate = 0.1}, *world.gradients, {});
    const auto zeros = at::zeros({kRows, kColumns}, at::kDouble);
    EXPECT_TRUE(at::equal(sent(power_sgd, zeros, 0), zeros));
  });
}

// torch's _should_compress: (n + m) * rank * rate < n * m.
TEST(PowerSgd, CompressesWhatGetsSmaller) {
  EXPECT_TRUE(is_worth_compressing(6, 5, {.rank = 1, .min_compression_rate = 2}));
  EXPECT_FALSE(is_worth_compressing(6, 5, {.rank = 2, .min_compression_rate = 2}));
  EXPECT_FALSE(is_worth_compressing(4, 1, {.rank = 1, .min_compression_rate = 1}));
}

TEST(PowerSgd, ColumnsBecomeOrthonormal) {
  for (const std::int64_t rank : {1, 2, 3}) {
    auto columns = drawn_gradient(0, 0).narrow(1, 0, rank).clone();
    orthogonalize(columns, 0);
    EXPECT_TRUE(at::allclose(columns.t().mm(columns), at::eye(rank, at::kDouble), 1e-12, 1e-12));
  }
}

/// Engines of two ranks with their gradients at each of three steps.
test::Tensors descent(World& world, const EngineOptions& options) {
  const auto engine = make_ddp_engine(test::factory(), options, world);
  const std::vector<Batch> batches{test::samples(5), test::samples(4), test::samples(6)};
  return test::descend(*engine, batches, {1, world.rank, world.size});
}

TEST(PowerSgd, BeginsAtItsStartAndNeverOnOneRank) {
  for (const int ranks : {1, 2})
    test::play_all(ranks, [ranks](World& world) {
      EngineOptions options;
      options.numerics.parameters = at::kDouble;
      const auto plain = descent(world, options);
      options.power_sgd = PowerSgdOptions{.rank = 1, .start = 1, .min_compression_rate = 1};
      const auto compressed = descent(world, options);
      const auto step = plain.size() / 3;
      const auto differ = [&](std::size_t first, std::size_t last) {
        for (auto i = first; i < last; ++i)
          if (plain[i].defined() && !at::equal(plain[i], compressed[i])) return true;
        return false;
      };
      EXPECT_FALSE(differ(0, step));
      EXPECT_EQ(differ(step, 3 * step), ranks > 1);
    });
}

// bfloat16 has 8 bits, so a sum of gradients in it differs from one in double.
TEST(Ddp, RoundsWhatTravelsToTheTypeOfTheWire) {
  test::play_all(2, [](World& world) {
    EngineOptions options;
    options.numerics.parameters = at::kDouble;
    const auto plain = descent(world, options);
    options.wire_type = at::kBFloat16;
    const auto rounded = descent(world, options);
    EXPECT_GT(test::distance(rounded, plain), 1e-5);
    EXPECT_LT(test::distance(rounded, plain), 3e-2);
  });
}

}  // namespace
}  // namespace ddptrain
