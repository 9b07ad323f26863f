// What a checkpoint is of does not change with the tensors that it was taken from.
#include "checkpoint/host_copy.h"

#include <gtest/gtest.h>

#include "tensors.h"

namespace ddptrain {
namespace {

TEST(HostCopy, StaysAsItWasTaken) {
  auto live = small_checkpoint(3);
  const HostCopy copy(live);
  for (auto* tensors : {&live.model, &live.optimizer})
    for (auto& named : *tensors) named.tensor.zero_();
  const auto& taken = copy.get();
  const auto expected = small_checkpoint(3);
  EXPECT_EQ(taken.step, 3);
  EXPECT_EQ(taken.state, expected.state);
  ASSERT_EQ(taken.model.size(), expected.model.size());
  for (std::size_t i = 0; i < expected.model.size(); ++i) {
    EXPECT_EQ(taken.model[i].name, expected.model[i].name);
    EXPECT_TRUE(taken.model[i].tensor.equal(expected.model[i].tensor));
  }
  EXPECT_TRUE(taken.optimizer[0].tensor.equal(expected.optimizer[0].tensor));
}

}  // namespace
}  // namespace ddptrain
