// A device's tensors go to a checkpoint through pinned memory.
#include "checkpoint/saving/host_copy.h"

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include "simulated/use.h"

namespace ddptrain {
namespace {

TEST(HostCopyOfADevice, IsPinnedAndStaysAsItWasTaken) {
  const auto device = test::simulated_device();
  auto live = at::arange(24, at::kDouble).reshape({2, 3, 2, 2}).to(device);
  Checkpoint checkpoint;
  checkpoint.model = {{"weight", live}};
  checkpoint.optimizer = {{"weight.step", at::arange(1)}};
  const HostCopy copy(parts_of(checkpoint));
  live.zero_();
  const auto& taken = copy.get();
  EXPECT_TRUE(taken.model[0].elements.is_pinned());
  EXPECT_TRUE(taken.model[0].elements.equal(at::arange(24, at::kDouble).reshape({2, 3, 2, 2})));
  EXPECT_FALSE(taken.optimizer[0].elements.is_pinned());
}

}  // namespace
}  // namespace ddptrain
