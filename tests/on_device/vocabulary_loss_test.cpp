// Cross entropy over a vocabulary on a device: the CPU's values and gradients, in one chunk and in
// several, and no wait.
#include "losses/vocabulary_loss.h"

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include "models/nets.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

struct LossCase {
  bool has_bias = false;
  double soft_cap = 0;
  VocabularyLossOptions options = {};
};

/// Hidden states, weight and bias, drawn once.
struct Drawn {
  at::Tensor hidden = test::noise({19, 6}), weight = test::noise({37, 6}), bias = test::noise({37});
};

/// Values, and the gradients of hidden states, weight and bias; values have unlike gradients.
std::vector<at::Tensor> loss_on(at::Device device, const Drawn& drawn, const LossCase& c) {
  const auto leaf = [&](const at::Tensor& numbers) {
    return numbers.to(device, at::kDouble, false, /*copy=*/true).set_requires_grad(true);
  };
  ProjectedOutput output{leaf(drawn.hidden), leaf(drawn.weight), {}, c.soft_cap};
  if (c.has_bias) output.bias = leaf(drawn.bias);
  const auto labels = at::arange(19, at::kLong).mul_(7).remainder_(37).to(device);
  const auto values = vocabulary_loss(output, labels, c.options);
  values.backward(at::arange(1, 20, at::kDouble).div_(10).to(device));
  std::vector<at::Tensor> all{values.detach(), output.hidden.grad(), output.weight.grad()};
  if (c.has_bias) all.push_back(output.bias.grad());
  for (auto& tensor : all) tensor = tensor.cpu();
  return all;
}

TEST(VocabularyLossOnADevice, IsThatOfTheCpu) {
  const Drawn drawn;
  std::vector<LossCase> cases;
  for (const std::int64_t at_once : {0, 19, 7, 1}) {
    cases.push_back({.options = {.at_once = at_once}});
    cases.push_back({.has_bias = true, .options = {0.1, 0, at_once}});
    cases.push_back({.has_bias = true, .soft_cap = 2, .options = {0.1, 0.01, at_once}});
  }
  for (const auto& c : cases) {
    const auto expected = loss_on(at::kCPU, drawn, c),
               found = loss_on(test::simulated_device(), drawn, c);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_LT(test::largest_difference(found[i], expected[i]), 1e-12)
          << i << ", at once " << c.options.at_once;
  }
}

TEST(VocabularyLossOnADevice, WaitsForNothing) {
  const auto device = test::simulated_device();
  ProjectedOutput output{test::noise({19, 6}).to(device).set_requires_grad(true),
                         test::noise({37, 6}).to(device).set_requires_grad(true),
                         {}};
  const auto labels = at::arange(19, at::kLong).to(device);
  const auto gradient = test::noise({19}).to(device);
  simulated::reset();
  vocabulary_loss(output, labels, {}).backward(gradient);
  EXPECT_EQ(simulated::counts().waited(), 0);
}

}  // namespace
}  // namespace ddptrain
