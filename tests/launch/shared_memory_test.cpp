#include "launch/shared_memory.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "launch/child_process.h"

namespace ddptrain {
namespace {

TEST(ReportedNumber, OutlivesTheRankThatReportedIt) {
  ReportedNumber number;
  EXPECT_EQ(number.get(), std::nullopt);
  sigset_t none;
  ::sigemptyset(&none);
  ChildProcess rank({"a rank", Tie::own_group, none, [&] {
                       number.set(16);
                       return ::raise(SIGKILL);
                     }});
  rank.wait();
  EXPECT_EQ(number.get(), 16);
}

}  // namespace
}  // namespace ddptrain
