// Collectives of a world of one, which a run alone never starts: NCCL on CUDA.
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "distributed/c10d.h"
#include "gpu/device.h"

namespace ddptrain::gpu {
namespace {

TEST(WorldOfOne, ReducesGathersBroadcastsAndMeets) {
  const Store store = c10::make_intrusive<c10d::HashStore>();
  BackendOptions options;
  options.name = "gradients";
  auto group = make_backend_group(tested().process_group(store, options, 0), options);
  const auto numbers = at::arange(6, at::kDouble);
  auto tensor = numbers.to(device());
  group->all_reduce(tensor);
  EXPECT_TRUE(tensor.cpu().equal(numbers));
  const auto pending = group->all_reduce_async(tensor);
  pending->wait();
  EXPECT_TRUE(tensor.cpu().equal(numbers));
  const auto gathered = group->all_gather(tensor);
  ASSERT_EQ(gathered.size(), 1U);
  EXPECT_TRUE(gathered[0].cpu().equal(numbers));
  group->broadcast(tensor, 0);
  EXPECT_TRUE(tensor.cpu().equal(numbers));
  group->barrier();
}

}  // namespace
}  // namespace ddptrain::gpu
