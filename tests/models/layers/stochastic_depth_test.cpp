#include "models/layers/stochastic_depth.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "models/nets.h"

namespace ddptrain {
namespace {

using test::training;

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
