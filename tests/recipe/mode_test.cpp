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

}  // namespace
}  // namespace ddptrain
