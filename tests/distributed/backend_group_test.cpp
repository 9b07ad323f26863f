// How a group ends that waits for its peers, and one that does not.
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "base/error.h"
#include "distributed/c10d.h"
#include "launch/failure.h"

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

/// Whose collectives throw.
class Failing final : public c10d::Backend {
 public:
  explicit Failing(std::string what) : c10d::Backend(0, 2), what_(std::move(what)) {}
  const std::string getBackendName() const override { return "failing"; }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>&,
                                           const c10d::AllreduceOptions&) override {
    throw std::runtime_error(what_);
  }

 private:
  std::string what_;
};

Failure failure_of_sum(const std::string& what) {
  BackendOptions options;
  options.name = "gradients";
  const auto made = make_backend_group(c10::make_intrusive<Failing>(what), options);
  auto numbers = at::ones({2});
  try {
    made->all_reduce(numbers);
  } catch (...) {
    return failure_of(std::current_exception(), 0);
  }
  return {};
}

// The words of Gloo and of NCCL 2.28 in LibTorch 2.11.
TEST(BackendGroup, SaysThatAnotherRankHasEnded) {
  for (const auto* what :
       {"[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer "
        "[127.0.0.1]:4242",
        "NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3780, remote "
        "process exited or there was a network error, NCCL version 2.28.9\nncclRemoteError: A call "
        "failed possibly due to a network error or a remote process exiting prematurely.",
        "NCCL error: unhandled, NCCL version 2.28.9\nncclRemoteError: A call failed"}) {
    const auto failure = failure_of_sum(what);
    EXPECT_EQ(failure.code, Exit::device);
    EXPECT_EQ(failure.message,
              "rank 0, all_reduce of the gradients group: another rank has ended; its own message "
              "says why");
    EXPECT_TRUE(failure.secondary) << what;
  }
  const auto other = failure_of_sum("NCCL error in: a.cpp:1, unhandled system error\nmore");
  EXPECT_EQ(other.message,
            "rank 0, all_reduce of the gradients group: NCCL error in: a.cpp:1, unhandled system "
            "error");
  EXPECT_FALSE(other.secondary);
}

/// Notes how many waits are counted while it starts a collective.
class Noting final : public c10d::Backend {
 public:
  explicit Noting(std::shared_ptr<std::atomic<int>> waits)
      : c10d::Backend(0, 2), waits_(std::move(waits)) {}
  const std::string getBackendName() const override { return "noting"; }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>&,
                                           const c10d::AllreduceOptions&) override {
    seen.push_back(*waits_);
    return c10::make_intrusive<c10d::Work>();
  }
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor&, at::Tensor&,
                                                 const c10d::AllgatherOptions&) override {
    seen.push_back(*waits_);
    return c10::make_intrusive<c10d::Work>();
  }
  std::vector<int> seen;

 private:
  std::shared_ptr<std::atomic<int>> waits_;
};

// NCCL connects the ranks in it.
TEST(BackendGroup, CountsTheStartOfACollectiveAsAWait) {
  BackendOptions options;
  options.size = 2;
  options.waits = std::make_shared<std::atomic<int>>(0);
  const auto backend = c10::make_intrusive<Noting>(options.waits);
  const auto made = make_backend_group(backend, options);
  auto numbers = at::ones({2});
  const auto sum = made->all_reduce_async(numbers);
  const auto gathered = made->all_gather_async(numbers, {0, 1, 2});
  EXPECT_EQ(backend->seen, std::vector<int>({1, 1}));
  EXPECT_EQ(*options.waits, 0);
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
