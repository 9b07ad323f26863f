#include "launch/failure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "base/secrets.h"

namespace ddptrain {
namespace {

Exit code_of(const std::string& message) {
  return failure_of(std::make_exception_ptr(std::runtime_error(message)), 0).code;
}

// What CUDA's allocator, its libraries and the CPU's allocator say.
TEST(Failure, KnowsTheWordsForNoMemory) {
  EXPECT_EQ(code_of("CUDA out of memory. Tried to allocate 20.00 MiB"), Exit::memory);
  EXPECT_EQ(code_of("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
            Exit::memory);
  EXPECT_EQ(code_of("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), Exit::memory);
  EXPECT_EQ(code_of("DefaultCPUAllocator: can't allocate memory"), Exit::memory);
  EXPECT_EQ(code_of("CUDA error: an illegal memory access was encountered"), Exit::bug);
}

// The words of CUDA's allocator in 2.11 (c10/cuda/CUDACachingAllocator.cpp).
TEST(OutOfMemory, SaysWhereAndHowMuchWasAskedFor) {
  const auto fails = [](const std::string& message) {
    return [message] { throw std::runtime_error(message); };
  };
  try {
    in_phase("the backward pass",
             fails("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
                   "79.11 GiB of which 1.20 GiB is free.\nException raised from malloc"));
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.code(), Exit::memory);
    EXPECT_EQ(error.phase(), "the backward pass");
    EXPECT_EQ(error.asked(), "2.00 GiB");
    EXPECT_STREQ(error.what(),
                 "out of memory in the backward pass, where 2.00 GiB more were asked for");
  }
  try {
    in_phase("evaluation", fails("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"));
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(), "out of memory in evaluation");
  }
}

TEST(OutOfMemory, IsNothingElse) {
  EXPECT_EQ(in_phase("evaluation", [] { return 7; }), 7);
  EXPECT_THROW(in_phase("evaluation", [] { throw std::out_of_range("it is a bug"); }),
               std::out_of_range);
}

Failure failure_with(const std::string& message) {
  return failure_of(std::make_exception_ptr(std::runtime_error(message)), 0);
}

// What LibTorch 2.11 and NVIDIA's libraries say.
TEST(Failure, KnowsTheWordsForALostDevice) {
  for (const std::string message : {
           "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
           "CUDA driver initialization failed, you might not have a CUDA gpu.",
           "The NVIDIA driver on your system is too old (found version 11040).",
           "CUDA error: no kernel image is available for execution on the device",
           "CUDA error: device-side assert triggered",
           "CUDA error: unspecified launch failure",
           "CUDA error: CUDA-capable device(s) is/are busy or unavailable",
           "CUDA error: uncorrectable ECC error encountered",
           "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
           "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(handle)`",
           "NCCL error in: ProcessGroupNCCL.cpp:3690, unhandled system error, NCCL version 2.28.9",
       }) {
    const auto failure =
        failure_with(message + "\nframe #0: c10::Error::Error (0x7f in libc10.so)");
    EXPECT_EQ(failure.code, Exit::device) << message;
    EXPECT_EQ(failure.message, message);
    EXPECT_FALSE(failure.secondary);
  }
}

TEST(Failure, OfACollectiveThatTimedOutIsAnotherRanks) {
  const auto failure = failure_with(
      "[PG ID 1 PG GUID 0 Rank 0] Process group watchdog thread terminated with exception: [Rank "
      "0] "
      "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, "
      "Timeout(ms)=600000) ran for 600021 milliseconds before timing out.");
  EXPECT_EQ(failure.code, Exit::device);
  EXPECT_TRUE(failure.secondary);
}

// ncclRemoteError, as NCCL 2.28 and LibTorch 2.11 word it.
const std::string kNcclLostPeer =
    "[PG ID 0 PG GUID gradients Rank 0] Process group watchdog thread terminated with exception: "
    "NCCL error: remote process exited or there was a network error, NCCL version 2.28.9\n"
    "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
    "prematurely.";

TEST(Failure, OfALostPeerIsAnotherRanks) {
  const auto failure = failure_with(kNcclLostPeer);
  EXPECT_EQ(failure.code, Exit::device);
  EXPECT_EQ(failure.message, "another rank has ended; its own message says why");
  EXPECT_TRUE(failure.secondary);
}

/// Ends this process as NCCL's watchdog does.
void throw_in_a_thread(const std::string& message) {
  report_what_no_one_catches({});
  std::thread([&] { throw std::runtime_error(message); }).join();
}

TEST(UncaughtDeathTest, IsAFailureOfTheRank) {
  EXPECT_EXIT(throw_in_a_thread("CUDA error: uncorrectable ECC error encountered\nframe #0: f"),
              testing::ExitedWithCode(4), "^error: CUDA error: uncorrectable ECC error[^\n]*\n$");
  EXPECT_EXIT(throw_in_a_thread("it is a bug"), testing::KilledBySignal(SIGABRT), "");
}

/// The other rank's failure in place of its consequence.
Failure explained(const Failure& own) {
  if (!own.secondary) return own;
  const Failure cause{1, 12.5, Exit::data, "it is torn", {"a.jpg"}};
  return failure_of(std::make_exception_ptr(PeerError(cause)), own.rank);
}

TEST(UncaughtDeathTest, IsExplainedByTheFailureOfAnotherRank) {
  const auto lose_peer = [](const Explain& explain) {
    explain_what_no_one_catches(explain);
    throw_in_a_thread(kNcclLostPeer);
  };
  EXPECT_EXIT(lose_peer(explained), testing::ExitedWithCode(3),
              "^a.jpg: error: rank 1: it is torn\n$");
  const auto bug = [](const Failure& own) {
    return failure_of(std::make_exception_ptr(PeerError(Failure{1, 1, Exit::bug, "a bug", {}})),
                      own.rank);
  };
  EXPECT_EXIT(lose_peer(bug), testing::ExitedWithCode(static_cast<int>(Exit::bug)),
              "rank 1: a bug");
}

// What rank 1 reports was the reason of rank 3.
TEST(PeerErrors, NameOneRank) {
  EXPECT_STREQ(PeerError(Failure{1, 1, Exit::data, "it is torn", {}}).what(), "rank 1: it is torn");
  for (const std::string passed_on : {"rank 3: it is torn", "rank 12, all_reduce: it has ended"})
    EXPECT_EQ(std::string(PeerError(Failure{1, 1, Exit::data, passed_on, {}}).what()), passed_on);
  EXPECT_STREQ(PeerError(Failure{1, 1, Exit::data, "rank correlation of one row", {}}).what(),
               "rank 1: rank correlation of one row");
}

// Two groups of NCCL lose the same peer, each in a thread of its own.
TEST(UncaughtDeathTest, IsReportedOnce) {
  const auto lose_twice = [] {
    explain_what_no_one_catches([](const Failure& own) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return explained(own);
    });
    std::thread other([] { throw_in_a_thread(kNcclLostPeer); });
    throw_in_a_thread(kNcclLostPeer);
  };
  EXPECT_EXIT(lose_twice(), testing::ExitedWithCode(3), "^a.jpg: error: rank 1: it is torn\n$");
}

TEST(UncaughtDeathTest, LeavesTheLastWordsToAThreadThatHasClaimedThem) {
  const auto claim_first = [] {
    std::thread other;
    claim_last_words();
    other = std::thread([] { throw_in_a_thread(kNcclLostPeer); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::_exit(7);
  };
  EXPECT_EXIT(claim_first(), testing::ExitedWithCode(7), "^$");
}

TEST(Failure, OfADeterministicRunIsTheRecipes) {
  const auto failure = failure_with(
      "adaptive_max_pool2d_backward_cuda does not have a deterministic implementation, but you set "
      "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this "
      "operation\nException raised from alertNotDeterministic");
  EXPECT_EQ(failure.code, Exit::recipe);
  EXPECT_EQ(failure.message,
            "train.deterministic: adaptive_max_pool2d_backward_cuda has no deterministic "
            "implementation on this device; 'train.deterministic: false' allows another");
}

TEST(Failure, IsTheSameAfterItsRecord) {
  const Failure failure{3, 12.5, Exit::data, "it is \"torn\"\n", {"a.jpg", 7, 2}, true};
  const auto again = from_record(to_record(failure));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->rank, 3);
  EXPECT_EQ(again->seconds, 12.5);
  EXPECT_EQ(again->code, Exit::data);
  EXPECT_EQ(again->message, failure.message);
  EXPECT_EQ(again->place.file, "a.jpg");
  EXPECT_EQ(again->place.line, 7);
  EXPECT_EQ(again->place.column, 2);
  EXPECT_TRUE(again->secondary);
  EXPECT_FALSE(from_record("{"));
}

TEST(Failure, OfARankThatKnowsTheCauseHasItsCodeAndIsNoCauseItself) {
  const Failure cause{3, 12.5, Exit::data, "it is torn", {"a.jpg", 7, 2}};
  const auto own = failure_of(std::make_exception_ptr(PeerError(cause)), 1);
  EXPECT_EQ(own.rank, 1);
  EXPECT_EQ(own.code, Exit::data);
  EXPECT_EQ(own.message, "rank 3: it is torn");
  EXPECT_EQ(own.place.file, "a.jpg");
  EXPECT_TRUE(own.secondary);
}

TEST(Failure, RecordsNoSecret) {
  keep_secret("open sesame", "${env:CAVE_KEY}");
  const Error error(Exit::data, "'open sesame' is not there");
  EXPECT_EQ(failure_of(std::make_exception_ptr(error), 0).message,
            "'${env:CAVE_KEY}' is not there");
}

}  // namespace
}  // namespace ddptrain
