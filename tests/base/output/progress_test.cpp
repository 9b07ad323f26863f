#include "base/output/progress.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(Progress, IsHeardByAllThatListenAndOnlyWhileTheyDo) {
  int outer = 0, inner = 0;
  progress();
  {
    const ProgressListener first([&] { ++outer; });
    progress();
    {
      const ProgressListener second([&] { ++inner; });
      progress();
    }
    progress();
  }
  progress();
  EXPECT_EQ(outer, 3);
  EXPECT_EQ(inner, 1);
}

}  // namespace
}  // namespace ddptrain
