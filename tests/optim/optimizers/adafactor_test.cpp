#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "optim/parameters.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

using nlohmann::json;

// Squares of 1e-30 have no product in float32.
TEST(Adafactor, LikeTransformersStaysWhereGradientsAreZero) {
  const NamedTensor matrix{"w", at::ones({2, 3}).set_requires_grad(true)};
  const auto optimizer =
      testing_optim::build({{"type", "adafactor"}, {"like", "transformers"}, {"beta1", 0.9}},
                           {testing_optim::group({matrix})});
  matrix.tensor.mutable_grad() = at::zeros({2, 3});
  for (int step = 0; step < 3; ++step) testing_optim::step(*optimizer);
  EXPECT_TRUE(matrix.tensor.detach().equal(at::ones({2, 3})));
}

TEST(Adafactor, MakesItsOwnRateWhereThereIsNoOther) {
  json recipe{{"type", "adafactor"}, {"relative_step", true}, {"lr", 1}};
  EXPECT_EQ(
      test::refused<Optimizer>(recipe),
      "relative_step: 'relative_step: true' needs 'like: transformers'; it is torch by default\n");
  recipe["like"] = "transformers";
  EXPECT_EQ(test::refused<Optimizer>(recipe), "");
  recipe.erase("lr");
  EXPECT_EQ(test::refused<Optimizer>(recipe),
            "relative_step: 'relative_step: true' needs 'lr.to: 1'; it is 0.01 by default\n");
}

}  // namespace
}  // namespace ddptrain
