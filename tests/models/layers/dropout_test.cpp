#include "models/layers/dropout.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "models/nets.h"
#include "models/operators/dropout_mask.h"

namespace ddptrain {
namespace {

using test::make_model;
using test::training;

const nlohmann::json dropping = {{"type", "sequential"},
                                 {"input", {3, 5, 7}},
                                 {"layers", {"identity", {{"type", "dropout"}, {"p", 0.3}}}}};

TEST(Dropout, DoesNotDependOnHowTheBatchIsCut) {
  const auto model = make_model(dropping);
  const auto x = at::ones({6, 3, 5, 7});
  const auto whole = model->forward(x, training(3, 10));
  const auto cut = at::cat({model->forward(x.narrow(0, 0, 2), training(3, 10)),
                            model->forward(x.narrow(0, 2, 4), training(3, 12))});
  EXPECT_TRUE(whole.equal(cut));
  EXPECT_FALSE(whole.equal(model->forward(x, training(4, 10))));
}

TEST(Dropout, DropsTheAskedShareAndKeepsTheMean) {
  const auto y = make_model(dropping)->forward(at::ones({1000, 3, 5, 7}), training(0, 0));
  const double dropped = y.eq(0).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(dropped, 0.3, 0.005);  // 105000 draws: three deviations are 0.0042
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.7, 1e-6);
}

TEST(Dropout, LeavesEvaluationAlone) {
  const auto x = at::ones({2, 3, 5, 7});
  EXPECT_TRUE(make_model(dropping)->forward(x, {}).equal(x));
}

TEST(Dropout, KeepsMemoryFormatAndChoicesUnderChannelsLast) {
  const auto model = make_model(dropping);
  const auto x = at::ones({2, 3, 5, 7});
  const auto y = model->forward(x.contiguous(at::MemoryFormat::ChannelsLast), training(0, 0));
  EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(y.equal(model->forward(x, training(0, 0))));
}

TEST(DropoutMask, IsPhiloxByElementRowAndStep) {
  const MaskRows rows{mix(7, 8), 5, 3, 4, 41};
  const auto mask = dropout_mask(rows, 0.5, 2, at::kFloat);
  for (std::uint32_t r = 0; r < 4; ++r)
    for (std::uint32_t e = 0; e < 41; ++e) {
      const auto words = philox({e / 4, 3 + r, 5, 0}, {static_cast<std::uint32_t>(rows.key),
                                                       static_cast<std::uint32_t>(rows.key >> 32)});
      ASSERT_EQ(mask[r][e].item<float>(), words[e % 4] < 0x80000000U ? 0 : 2);
    }
}

TEST(DropoutMask, FollowsThePositionsOfRowsWhereSomeAreLeftOut) {
  const MaskRows whole{mix(7, 8), 5, 3, 4, 41};
  auto kept = whole;
  const std::vector<std::int64_t> positions{3, 6};
  kept.rows = 2;
  kept.positions = positions;
  const auto expected = dropout_mask(whole, 0.5, 2, at::kFloat).index_select(0, at::tensor({0, 3}));
  EXPECT_TRUE(dropout_mask(kept, 0.5, 2, at::kFloat).equal(expected));
  EXPECT_TRUE(drop(at::ones({2, 41}), kept, 0.5).equal(expected));
}

/// By the definition: a word of Philox for each element of each row.
at::Tensor by_definition(const at::Tensor& input, const MaskRows& rows, double p) {
  const auto last = static_cast<std::uint64_t>(std::ldexp(p, 32));
  auto mask = at::empty({rows.rows, rows.elements}, at::kDouble);
  for (std::int64_t r = 0; r < rows.rows; ++r)
    for (std::int64_t e = 0; e < rows.elements; ++e) {
      const auto words = philox(
          {static_cast<std::uint32_t>(e / 4), static_cast<std::uint32_t>(rows.position(r)),
           static_cast<std::uint32_t>(rows.step), 0},
          {static_cast<std::uint32_t>(rows.key), static_cast<std::uint32_t>(rows.key >> 32)});
      mask[r][e] = words[static_cast<std::size_t>(e % 4)] < last ? 0 : 1 / (1 - p);
    }
  return mask.to(input.scalar_type());
}

TEST(Drop, MultipliesByAWordOfPhiloxForEachElementInEveryType) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf})
    for (const double p : {0.1, 0.5, 1.0}) {
      const MaskRows rows{mix(1, 2), 9, 1000, 3, 1031};
      const auto x = test::noise({3, 1031}).to(type);
      EXPECT_TRUE(drop(x, rows, p).equal(x.mul(p < 1 ? by_definition(x, rows, p) : at::zeros({}))));
    }
}

TEST(Drop, RepeatsTheMasksOfRowsBehindThem) {
  const MaskRows rows{mix(1, 2), 9, 4, 3, 10};
  const auto x = test::noise({3, 6, 2, 5});
  const auto mask = by_definition(x, rows, 0.4).view({3, 1, 2, 5});
  EXPECT_TRUE(drop(x, rows, 0.4).equal(x.mul(mask)));
  const auto transposed = test::noise({6, 3, 2, 5}).transpose(0, 1);
  EXPECT_TRUE(drop(transposed, rows, 0.4).equal(transposed.mul(mask)));
  EXPECT_EQ(drop(transposed, rows, 0.4).strides(), transposed.strides());
}

TEST(Drop, GivesGradientsByTheSameMask) {
  const MaskRows rows{mix(1, 2), 9, 4, 3, 30};
  const auto x = test::noise({3, 6, 5}).set_requires_grad(true), gradient = test::noise({3, 6, 5});
  drop(x, rows, 0.4).backward(gradient);
  EXPECT_TRUE(x.grad().equal(gradient.mul(by_definition(x, rows, 0.4).view({3, 6, 5}))));
}

TEST(Drop, LeavesAloneWhatNoWordIsSmallEnoughFor) {
  const MaskRows rows{mix(1, 2), 9, 4, 3, 30};
  const auto x = test::noise({3, 30});
  EXPECT_TRUE(drop(x, rows, 1e-12).equal(x));
}

TEST(StochasticDepth, DropsWholeRowsAndKeepsTheMean) {
  StochasticDepth depth(0.25);
  const auto rows = depth.forward(at::ones({2000, 3, 5}), training(0, 0)).flatten(1);
  EXPECT_TRUE(rows.amin(1).equal(rows.amax(1)));
  const double dropped = rows.eq(0).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(dropped, 0.25, 0.03);  // 2000 draws: three deviations are 0.029
  EXPECT_NEAR(rows.max().item<double>(), 1 / 0.75, 1e-6);
}

TEST(StochasticDepth, DoesNotDependOnHowTheBatchIsCut) {
  StochasticDepth depth(0.5);
  const auto x = at::ones({64, 3});
  const auto whole = depth.forward(x, training(3, 10));
  const auto cut = at::cat({depth.forward(x.narrow(0, 0, 20), training(3, 10)),
                            depth.forward(x.narrow(0, 20, 44), training(3, 30))});
  EXPECT_TRUE(whole.equal(cut));
  EXPECT_FALSE(whole.equal(depth.forward(x, training(4, 10))));
}

TEST(StochasticDepth, LeavesEvaluationAlone) {
  StochasticDepth depth(0.5);
  const auto x = at::ones({64, 3});
  EXPECT_TRUE(depth.forward(x, {}).equal(x));
}

TEST(StochasticDepth, DropsAllRowsAtOne) {
  StochasticDepth depth(1);
  EXPECT_EQ(depth.forward(at::ones({4, 3}), training(0, 0)).abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace ddptrain
