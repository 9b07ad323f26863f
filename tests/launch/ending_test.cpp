#include "launch/ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace ddptrain {
namespace {

Ending failed(int rank, double seconds, Exit code) {
  const bool lost_a_peer = code == Exit::device;
  const Failure failure{rank, seconds, code, "failure of " + std::to_string(rank), {}, lost_a_peer};
  return {rank, static_cast<int>(code), 0, seconds + 1, failure, false};
}

Ending killed(int rank, double seconds, int signal) {
  return {rank, 128 + signal, signal, seconds, {}, false};
}

TEST(FirstCause, IsTheEarliestRecord) {
  const std::vector<Ending> endings{failed(0, 7, Exit::data), failed(1, 5, Exit::non_finite)};
  EXPECT_EQ(first_cause(endings, 0)->rank, 1);
}

TEST(FirstCause, IsNotARankThatOnlyLostAPeer) {
  const std::vector<Ending> endings{failed(0, 5, Exit::device), failed(1, 7, Exit::data)};
  EXPECT_EQ(first_cause(endings, 0)->rank, 1);
}

TEST(FirstCause, IsADeviceErrorOfItsOwnBeforeTheDataErrorsThatCameLater) {
  auto device = failed(0, 5, Exit::device);
  device.failure->secondary = false;
  EXPECT_EQ(first_cause({failed(1, 7, Exit::data), device}, 0)->rank, 0);
}

TEST(FirstCause, IsTheKilledRankThoughItsPeersLeftRecordsBefore) {
  const std::vector<Ending> endings{failed(0, 5, Exit::bug), killed(1, 7, SIGKILL)};
  EXPECT_EQ(first_cause(endings, 0)->rank, 1);
}

TEST(FirstCause, IsNotARankThatWeEnded) {
  auto ours = killed(0, 4, SIGKILL);
  ours.ended_by_us = true;
  EXPECT_EQ(first_cause({ours, failed(1, 5, Exit::device)}, 0)->rank, 1);
}

TEST(FirstCause, IsNobodyWhereAllEndedInOrder) {
  Ending done;
  Ending expect;
  expect.code = static_cast<int>(Exit::expect);
  EXPECT_EQ(first_cause({done, expect}, 0), nullptr);
  Ending saved;
  saved.code = 128 + SIGTERM;
  EXPECT_EQ(first_cause({saved}, SIGTERM), nullptr);
  EXPECT_NE(first_cause({saved}, 0), nullptr);
}

TEST(Describe, NamesRankAndSignal) {
  EXPECT_THAT(describe(killed(2, 0, SIGKILL)),
              testing::HasSubstr("rank 2 was killed by signal 9 (SIGKILL)"));
  EXPECT_EQ(describe(failed(1, 0, Exit::data)), "rank 1: failure of 1");
}

}  // namespace
}  // namespace ddptrain
