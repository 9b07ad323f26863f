#include "recipe/mode.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

/// Devices are ranks or replicas, never both.
TEST(Mode, HasRanksOrReplicasOrOneDevice) {
  for (std::size_t i = 0; i < names(Mode{}).size(); ++i) {
    const auto mode = static_cast<Mode>(i);
    EXPECT_FALSE(has_ranks(mode) && has_replicas(mode)) << names(mode)[i];
    EXPECT_EQ(has_devices(mode), names(mode)[i] != "none");
  }
  EXPECT_TRUE(has_ranks(Mode::ddp));
  EXPECT_TRUE(has_replicas(Mode::dp));
}

/// `auto` may become a mode that shares, and is none.
TEST(Mode, AutoMayHaveShards) {
  EXPECT_TRUE(has_ranks(Mode::automatic));
  EXPECT_FALSE(has_shards(Mode::automatic));
  EXPECT_FALSE(has_units(Mode::automatic));
  EXPECT_TRUE(may_have_shards(Mode::automatic));
  EXPECT_TRUE(may_have_units(Mode::automatic));
  EXPECT_FALSE(may_have_shards(Mode::ddp));
  EXPECT_FALSE(may_have_units(Mode::zero1));
  EXPECT_EQ(compared_modes(Mode::automatic), std::vector{Mode::ddp});
}

}  // namespace
}  // namespace ddptrain
