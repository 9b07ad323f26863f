// The text of the kernels of optimizers, compiled here as C++ of the host, against torch's fused
// steps of the CPU, which take the same numbers from the host.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/emulated_cuda.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/optimizer_steps.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

using StepTensors = std::vector<at::Tensor>;

constexpr float kStepRate = 0.125F, kStepMomentum = 0.75F;  // also as floats
constexpr unsigned kStepThreads = 8;

/// More tensors than a launch takes, one of several chunks, one empty, one that no fours are in;
/// always the same numbers for a seed.
StepTensors drawn_lists(at::ScalarType type, std::uint64_t seed) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const auto drawn = [&](at::IntArrayRef sizes) { return at::randn(sizes, generator); };
  StepTensors all{drawn({2 * kOptimizerChunk + 5}), drawn({0}), drawn({40}).slice(0, 1, 38),
                  drawn({3, 7})};
  while (all.size() < kOptimizerTensors + 3) all.push_back(drawn({4}));
  for (auto& tensor : all) tensor = tensor.to(type);
  return all;
}

StepTensors copies_of(const StepTensors& tensors) {
  StepTensors all;
  for (const auto& tensor : tensors) all.push_back(tensor.clone());
  return all;
}

StepTensors zeros_of(const StepTensors& tensors) {
  StepTensors all;
  for (const auto& tensor : tensors) all.push_back(at::zeros_like(tensor));
  return all;
}

template <class Kernel, class Arguments>
void emulated_step(Kernel kernel, const std::vector<at::TensorList>& lists,
                   const Arguments& arguments) {
  std::size_t launches = 0;
  for (std::size_t first = 0; first < lists.front().size(); ++launches) {
    const auto tensors = optimizer_tensors(lists, first);
    first += static_cast<std::size_t>(tensors.count);
    const auto blocks = static_cast<unsigned>(tensors.first_chunks[tensors.count]);
    emulated::launch_together(kernel, {blocks, 1, 1}, kStepThreads, tensors, arguments);
  }
  EXPECT_EQ(launches, 2U);
}

void expect_near_lists(const StepTensors& actual, const StepTensors& expected, double tolerance) {
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(at::allclose(actual[i], expected[i], tolerance, tolerance))
        << i << " by " << actual[i].sub(expected[i]).abs().max().item<double>();
}

struct AdamCase {
  double weight_decay;
  bool amsgrad, maximize, decoupled;
};

/// Large, so that a step does not divide rounding errors by it: of a gradient that decay cancels.
constexpr double kStepEps = 0.01;

class AdamStepKernel : public testing::TestWithParam<AdamCase> {};

TEST_P(AdamStepKernel, IsTheFusedStepOfTheCpu) {
  const auto& c = GetParam();
  auto ours = drawn_lists(at::kFloat, 0), theirs = copies_of(ours);
  auto m = zeros_of(ours), v = zeros_of(ours), most = zeros_of(ours), their_m = zeros_of(ours),
       their_v = zeros_of(ours), their_most = zeros_of(ours);
  for (int step = 1; step <= 3; ++step) {
    const auto gradients = drawn_lists(at::kFloat, static_cast<std::uint64_t>(step));
    const auto number = static_cast<float>(step);
    std::vector<at::TensorList> lists{ours, gradients, m, v};
    if (c.amsgrad) lists.push_back(most);
    emulated_step(&kernels::adam_step_float, lists,
                  AdamStepArguments{&kStepRate, &kStepMomentum, &number, nullptr, 0.9,
                                    c.weight_decay, kStepEps, c.amsgrad, c.maximize, c.decoupled});
    const StepTensors steps(ours.size(), at::full({}, number));
    const auto fused = [&](auto call) {
      call(theirs, gradients, their_m, their_v, c.amsgrad ? their_most : StepTensors{}, steps,
           double{kStepRate}, double{kStepMomentum}, 0.9, c.weight_decay, kStepEps, c.amsgrad,
           c.maximize, std::optional<at::Tensor>(), std::optional<at::Tensor>());
    };
    if (c.decoupled)
      fused([](const auto&... all) { at::_fused_adamw_(all...); });
    else
      fused([](const auto&... all) { at::_fused_adam_(all...); });
  }
  expect_near_lists(ours, theirs, 2e-6);
  expect_near_lists(m, their_m, 2e-6);
  expect_near_lists(v, their_v, 2e-6);
  if (c.amsgrad) expect_near_lists(most, their_most, 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Options, AdamStepKernel,
                         testing::Values(AdamCase{0, false, false, false},
                                         AdamCase{0.1, false, true, false},
                                         AdamCase{0.1, true, false, true}));

TEST(SgdStepKernel, IsTheFusedStepOfTheCpu) {
  for (const bool nesterov : {false, true}) {
    auto ours = drawn_lists(at::kFloat, 0), theirs = copies_of(ours);
    auto running = zeros_of(ours), their_running = zeros_of(ours);
    for (int step = 1; step <= 3; ++step) {
      const auto gradients = drawn_lists(at::kFloat, static_cast<std::uint64_t>(step));
      const double dampening = nesterov ? 0 : 0.25;
      emulated_step(&kernels::sgd_step_float, {ours, gradients, running},
                    SgdStepArguments{&kStepRate, &kStepMomentum, nullptr, 0.1, dampening, nesterov,
                                     !nesterov, step == 1});
      at::_fused_sgd_(theirs, gradients, their_running, 0.1, kStepMomentum, double{kStepRate},
                      dampening, nesterov, !nesterov, step == 1);
    }
    expect_near_lists(ours, theirs, 2e-6);
    expect_near_lists(running, their_running, 2e-6);
  }
}

// 8 bits: what is rounded once is within 2^-8 of it.
TEST(SgdStepKernel, RoundsHalvesOnce) {
  auto ours = drawn_lists(at::kBFloat16, 0);
  auto running = zeros_of(ours);
  const auto before = copies_of(ours), gradients = drawn_lists(at::kBFloat16, 1);
  emulated_step(&kernels::sgd_step_bfloat16, {ours, gradients, running},
                SgdStepArguments{&kStepRate, &kStepMomentum, nullptr, 0, 0, false, false, true});
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_TRUE(at::equal(
        ours[i],
        before[i].to(at::kFloat).sub(gradients[i].to(at::kFloat), kStepRate).to(at::kBFloat16)));
}

TEST(OptimizerStepKernels, ChangeNothingInARefusedStep) {
  const float refused = 1, number = 1;
  auto ours = drawn_lists(at::kFloat, 0);
  const auto before = copies_of(ours), gradients = drawn_lists(at::kFloat, 1);
  auto m = zeros_of(ours), v = zeros_of(ours);
  emulated_step(&kernels::adam_step_float, {ours, gradients, m, v},
                AdamStepArguments{&kStepRate, &kStepMomentum, &number, &refused, 0.9, 0.1, 1e-6,
                                  false, false, true});
  emulated_step(&kernels::sgd_step_float, {ours, gradients, m},
                SgdStepArguments{&kStepRate, &kStepMomentum, &refused, 0.1, 0, false, false, true});
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_TRUE(at::equal(ours[i], before[i]));
    EXPECT_TRUE(at::equal(m[i], at::zeros_like(m[i])));
  }
}

}  // namespace
}  // namespace ddptrain
