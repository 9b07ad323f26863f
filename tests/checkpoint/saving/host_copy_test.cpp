// What a checkpoint is of does not change with the tensors that it was taken from.
#include "checkpoint/saving/host_copy.h"

#include <gtest/gtest.h>

#include "checkpoint/tensors.h"

namespace ddptrain {
namespace {

TEST(HostCopy, StaysAsItWasTaken) {
  auto live = small_checkpoint(3);
  const HostCopy copy(parts_of(live));
  for (auto* tensors : {&live.model, &live.optimizer})
    for (auto& named : *tensors) named.tensor.zero_();
  const auto& taken = copy.get();
  const auto expected = small_checkpoint(3);
  EXPECT_EQ(taken.step, 3);
  EXPECT_EQ(taken.state, expected.state);
  ASSERT_EQ(taken.model.size(), expected.model.size());
  for (std::size_t i = 0; i < expected.model.size(); ++i) {
    EXPECT_EQ(taken.model[i].name, expected.model[i].name);
    EXPECT_TRUE(taken.model[i].elements.equal(expected.model[i].tensor));
  }
  EXPECT_TRUE(taken.optimizer[0].elements.equal(expected.optimizer[0].tensor));
}

}  // namespace
}  // namespace ddptrain
