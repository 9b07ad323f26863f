// Every loss with every option: values, weights and gradient as on the CPU.
#include "losses/loss.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "gpu/device.h"
#include "losses/tried_losses.h"
#include "losses/vocabulary_loss.h"
#include "models/nets.h"

namespace ddptrain::gpu {
namespace {

constexpr std::int64_t kLossRows = 13, kLossClasses = 4;

struct LossCase {
  std::string name;
  nlohmann::json options;
  at::Tensor output, target;
};

at::Tensor output_for(Given given, const at::Generator& random) {
  if (given == Given::pixel_label)
    return at::randn({kLossRows, kLossClasses, 2, 3}, random, at::kDouble);
  return at::randn({kLossRows, given == Given::number ? 2 : kLossClasses}, random, at::kDouble);
}

at::Tensor target_for(Given given, const at::Generator& random) {
  if (given == Given::label) return at::randint(kLossClasses, {kLossRows}, random, at::kLong);
  if (given == Given::pixel_label)
    return at::randint(kLossClasses, {kLossRows, 2, 3}, random, at::kLong);
  const auto values = output_for(given, random);
  return given == Given::probabilities ? values.softmax(1) : values;
}

std::vector<LossCase> loss_cases() {
  std::vector<LossCase> cases;
  const auto random = test::seeded(11);
  for (const auto& tried : tried_losses())
    for (const auto& each : tried.cases) {
      auto output = output_for(each.given, random);
      if (tried.takes_logarithms) output = at::log_softmax(output, 1);
      cases.push_back({tried.name, each.options, output, target_for(each.given, random)});
    }
  return cases;
}

struct Taken {
  at::Tensor values, weights, gradient;
};

Taken taken_on(const LossCase& c, c10::Device where, at::ScalarType type) {
  auto recipe = c.options.is_null() ? nlohmann::json::object() : c.options;
  recipe["type"] = c.name;
  const auto loss = catalog<Loss>().build(fragment<Loss>(recipe), LossContext{});
  const auto output = c.output.detach().to(where, type, false, true).set_requires_grad(true);
  const auto target =
      c.target.to(where, c.target.is_floating_point() ? type : c.target.scalar_type());
  const auto terms = (*loss)(output, target);
  terms.values.sum().backward();
  return {terms.values.detach(), terms.weights, output.grad()};
}

void expect_the_loss_of_the_cpu(const Tolerance& tolerance) {
  for (const auto& c : loss_cases()) {
    SCOPED_TRACE(c.name + " " + c.options.dump());
    const auto near = taken_on(c, at::kCPU, tolerance.type);
    const auto far = taken_on(c, device(), tolerance.type);
    EXPECT_EQ(far.values.device(), device());
    EXPECT_LE(relative_distance(far.values, near.values), tolerance.distance);
    EXPECT_LE(relative_distance(far.weights, near.weights), tolerance.distance);
    EXPECT_LE(relative_distance(far.gradient, near.gradient), tolerance.distance);
  }
}

TEST(EveryLoss, IsThatOfTheCpuInDoublePrecision) {
  expect_the_loss_of_the_cpu({at::kDouble, 1e-12});
}
TEST(EveryLoss, IsThatOfTheCpuInSinglePrecision) { expect_the_loss_of_the_cpu({at::kFloat, 1e-5}); }

/// Values, and the gradients of hidden states and weight, of more places than a device has
/// multiprocessors and a vocabulary that no power of two divides.
std::vector<at::Tensor> vocabulary_loss_on(c10::Device where, at::ScalarType type,
                                           const VocabularyLossOptions& options) {
  const auto random = test::seeded(3);
  const auto draw = [&](std::vector<std::int64_t> shape, double scale) {
    return at::randn(shape, random, at::kDouble).mul_(scale).to(where, type);
  };
  ProjectedOutput output{draw({700, 24}, 1).set_requires_grad(true),
                         draw({5003, 24}, 0.5).set_requires_grad(true),
                         {}};
  const auto labels = at::randint(5003, {700}, random, at::kLong).to(where);
  const auto values = vocabulary_loss(output, labels, options);
  values.backward(draw({700}, 1).to(values.scalar_type()));
  return {values.detach(), output.hidden.grad(), output.weight.grad()};
}

TEST(VocabularyLossOfADevice, IsThatOfTheCpu) {
  for (const Tolerance& tolerance :
       {Tolerance{at::kDouble, 1e-10}, Tolerance{at::kFloat, 1e-4}, Tolerance{at::kBFloat16, 2e-2}})
    for (const VocabularyLossOptions& options :
         {VocabularyLossOptions{}, VocabularyLossOptions{0.1, 0.01, 300}}) {
      const auto near = vocabulary_loss_on(at::kCPU, tolerance.type, options),
                 far = vocabulary_loss_on(device(), tolerance.type, options);
      for (std::size_t i = 0; i < near.size(); ++i)
        EXPECT_LE(relative_distance(far[i], near[i]), tolerance.distance)
            << "tensor " << i << " of " << tolerance.type;
    }
}

}  // namespace
}  // namespace ddptrain::gpu
