#include "jobs/verify/step_gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/module.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

NamedTensor with_gradient(const std::string& name, const std::vector<double>& gradient) {
  const auto values = at::tensor(gradient, at::kDouble);
  auto parameter = at::zeros_like(values).requires_grad_();
  parameter.mutable_grad() = values;
  return {name, parameter};
}

std::vector<NamedTensor> parameters(const std::vector<double>& weight,
                                    const std::vector<double>& bias) {
  return {with_gradient("weight", weight), with_gradient("bias", bias)};
}

at::Tensor numbers(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

std::string folder_of_run(const TemporaryFolder& folder, const std::string& name) {
  folder.write(name + "/recipe.yaml", "");
  return folder / name;
}

// The gradients (3, 4, 0) and 1e-17 have the length 5; they are 1e-12 and 3e-17 apart.
TEST(FollowGradients, TakesThoseOfTheOtherRunAndNotesHowFarItsOwnWere) {
  const TemporaryFolder folder;
  const auto kept = folder_of_run(folder, "kept");
  const auto own = folder_of_run(folder, "own");
  keep_gradients(kept)(parameters({3, 4, 0}, {1e-17, 0}), 1);
  const auto mine = parameters({3, 4 + 1e-12, 0}, {-2e-17, 0});
  follow_gradients(own, kept)(mine, 1);
  EXPECT_TRUE(mine[0].tensor.grad().equal(numbers({3, 4, 0})));
  EXPECT_TRUE(mine[1].tensor.grad().equal(numbers({1e-17, 0})));
  const auto noted = followed_gradients(own);
  EXPECT_NEAR(noted.largest, 2e-13, 1e-15);
  EXPECT_EQ(noted.step, 1);
  ASSERT_EQ(noted.noisy.size(), 1U);
  EXPECT_EQ(noted.noisy[0].name, "bias");
  EXPECT_EQ(noted.noisy[0].noisy, 1);
  EXPECT_EQ(noted.noisy[0].nonzero, 1);
}

TEST(FollowGradients, ShakesWeightsByAUnitInTheLastPlace) {
  const TemporaryFolder folder;
  const auto kept = folder_of_run(folder, "kept");
  const auto own = folder_of_run(folder, "own");
  const auto mine = parameters({3, 4, 5}, {6});
  keep_gradients(kept)(mine, 1);
  for (const auto& [name, parameter] : mine) parameter.detach().fill_(1);
  const at::NoGradGuard no_grad;
  follow_gradients(own, kept, FollowersWeights::shaken)(mine, 1);
  EXPECT_TRUE(mine[0].tensor.equal(numbers({1 + 0x1p-52, 1 - 0x1p-53, 1 + 0x1p-52})));
  EXPECT_TRUE(mine[1].tensor.equal(numbers({1 + 0x1p-52})));
  EXPECT_EQ(followed_gradients(own).largest, 0);
}

TEST(FollowGradients, OfAStepThatIsNotFiniteKeepsItsOwnAndOfAMissingOneIsInfinitelyFar) {
  const TemporaryFolder folder;
  const auto kept = folder_of_run(folder, "kept");
  const auto own = folder_of_run(folder, "own");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  keep_gradients(kept)(parameters({nan, 4}, {1}), 1);
  const auto mine = parameters({3, 4}, {2});
  auto follow = follow_gradients(own, kept);
  follow(mine, 1);
  EXPECT_TRUE(mine[0].tensor.grad().equal(numbers({3, 4})));
  EXPECT_EQ(followed_gradients(own).largest, 0);
  follow(mine, 2);
  EXPECT_TRUE(std::isinf(followed_gradients(own).largest));
  EXPECT_EQ(followed_gradients(own).step, 2);
}

}  // namespace
}  // namespace ddptrain
