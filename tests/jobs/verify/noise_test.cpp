#include "jobs/verify/noise.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(Noise, AllowsTheLargerOfWhatWasShakenAndWhatFp64Says) {
  const auto shaken = allowance_of({.shaken = 0.5, .to_fp64 = 1.5});
  EXPECT_EQ(shaken.bound, 4);
  EXPECT_EQ(shaken.why,
            "rounding errors of this model: one in the last place of its weights changes them by "
            "0.5");
  const auto exact = allowance_of({.shaken = 0.25, .to_fp64 = 1.5});
  EXPECT_EQ(exact.bound, 3);
  EXPECT_EQ(exact.why,
            "rounding errors of this model: one rank is 1.5 from the same steps in fp64");
}

}  // namespace
}  // namespace ddptrain
