// Synchronized batch norm on a device whose kernels are as strict as CUDA's.
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "models/layers/norm.h"
#include "models/nets.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using test::largest_difference;
using test::noise;

/// The only member.
class SingleMember final : public Statistics {
 public:
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor}; }
  void all_reduce(at::Tensor&) override {}
};

struct Passed {
  at::Tensor output, input_grad, weight_grad;
};

Passed pass_through(BatchNorm& norm, const at::Tensor& rows, const at::Tensor& gradient,
                    Statistics* members) {
  const auto input = rows.detach().clone().set_requires_grad(true);
  const auto output = norm.forward(input, {.training = true, .statistics = members});
  output.backward(gradient);
  return {output.detach().cpu(), input.grad().cpu(), norm.weight().grad().cpu()};
}

TEST(BatchNormOnADevice, MovesItsStatisticsAsOnTheCpu) {
  const auto rows = noise({7, 3, 4, 4}).to(at::kDouble);
  BatchNorm near(3), far(3);
  near.to(at::kCPU, at::kDouble);
  far.to(test::simulated_device(), at::kDouble);
  near.forward(rows, {.training = true});
  far.forward(rows.to(test::simulated_device()), {.training = true});
  for (const auto* name : {"running_mean", "running_var", "num_batches_tracked"})
    EXPECT_TRUE(at::equal(test::find(far.named_buffers(), name).cpu(),
                          test::find(near.named_buffers(), name)))
        << name;
}

// By torch's own kernels, of which the simulated device has the formulas.
TEST(SyncBatchNorm, GivesTheKernelsOfADeviceWhatTheyNeed) {
  const auto device = test::simulated_device();
  const auto rows = noise({7, 3, 4, 4}).to(at::kDouble),
             gradient = noise({7, 3, 4, 4}).to(at::kDouble);
  BatchNorm alone(3), far(3);
  alone.to(at::kCPU, at::kDouble);
  far.to(device, at::kDouble);
  const auto one = pass_through(alone, rows, gradient, nullptr);
  SingleMember member;
  const auto many = pass_through(far, rows.to(device), gradient.to(device), &member);
  EXPECT_LT(largest_difference(many.output, one.output), 1e-12);
  EXPECT_LT(largest_difference(many.input_grad, one.input_grad), 1e-12);
  EXPECT_LT(largest_difference(many.weight_grad, one.weight_grad), 1e-12);
}

// Nothing in it may wait for the device, which runs ahead of the host.
TEST(SyncBatchNorm, DoesNotWaitForTheDevice) {
  const auto device = test::simulated_device();
  const auto rows = noise({4, 3, 2, 2}).to(device), gradient = noise({4, 3, 2, 2}).to(device);
  BatchNorm norm(3);
  norm.to(device, at::kFloat);
  SingleMember member;
  const auto input = rows.detach().set_requires_grad(true);
  simulated::reset();
  norm.forward(input, {.training = true, .statistics = &member}).backward(gradient);
  EXPECT_EQ(simulated::counts().waited(), 0) << simulated::counts().waits.begin()->first;
}

}  // namespace
}  // namespace ddptrain
