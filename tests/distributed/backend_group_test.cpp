// How a group ends that waits for its peers, and one that does not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "distributed/torch_compat.h"

namespace ddptrain {
namespace {

/// Counts what would wait for other ranks.
class Counting final : public c10d::Backend {
 public:
  explicit Counting(int& shutdowns) : c10d::Backend(0, 2), shutdowns_(shutdowns) {}
  const std::string getBackendName() const override { return "counting"; }
  void shutdown() override { ++shutdowns_; }

 private:
  int& shutdowns_;
};

std::unique_ptr<Group> group(int& shutdowns, bool waits_for_peers) {
  BackendOptions options;
  options.waits_for_peers = waits_for_peers;
  return make_backend_group(c10::make_intrusive<Counting>(shutdowns), options);
}

void fail_with(std::unique_ptr<Group>) { throw Error(Exit::data, "a file is torn"); }

TEST(BackendGroup, ShutsDownAtItsEnd) {
  int shutdowns = 0;
  group(shutdowns, true).reset();
  group(shutdowns, false).reset();
  EXPECT_EQ(shutdowns, 2);
}

// Gloo does not wait, and the others lose their connections at once.
TEST(BackendGroup, ThatDoesNotWaitShutsDownAfterAFailureToo) {
  int shutdowns = 0;
  EXPECT_THROW(fail_with(group(shutdowns, false)), Error);
  EXPECT_EQ(shutdowns, 1);
}

// Neither while an exception leaves it behind nor where a handler ends it; and then the process
// ends without the destructors at its end.
TEST(BackendGroupDeathTest, ThatWaitsIsLeftToTheKernelAfterAFailure) {
  const auto rank = [](bool handled) {
    int shutdowns = 0;
    std::atexit([] { ::_exit(9); });
    auto made = group(shutdowns, true);
    try {
      if (!handled) fail_with(std::move(made));
      throw Error(Exit::data, "a file is torn");
    } catch (const Error&) {
      made.reset();
    }
    std::exit(shutdowns == 0 ? 3 : 8);
  };
  EXPECT_EXIT(rank(false), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(rank(true), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace ddptrain
