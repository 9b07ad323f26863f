// Streams of the simulated device: mistakes that a GPU forgives most of the time give wrong
// numbers.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "simulated/use.h"

namespace ddptrain {

/// Exported, so that a wait in it has a place.
bool wait_for(const c10::Event& event) {
  event.synchronize();
  return event.query();
}

namespace {

using testing::ElementsAre;
using testing::Pair;

class SimulatedStream : public testing::Test {
 protected:
  SimulatedStream()
      : device_(test::simulated_device()),
        guard_(device_.type()),
        main_(guard_.getStream(device_)),
        side_(guard_.getStreamFromGlobalPool(device_)),
        event_(device_.type()) {
    simulated::reset();
  }

  static at::Tensor pinned(double value) {
    return at::full({3}, value, at::TensorOptions(at::kDouble).pinned_memory(true));
  }
  /// Brought by the side stream, which records the event behind it.
  at::Tensor brought(const at::Tensor& host) {
    const c10::StreamGuard on(side_);
    auto there = host.to(device_, /*non_blocking=*/true);
    event_.record(side_);
    return there;
  }
  static double sum(const at::Tensor& tensor) { return tensor.sum().item<double>(); }

  at::Device device_;
  c10::impl::VirtualGuardImpl guard_;
  c10::Stream main_, side_;
  c10::Event event_;
};

TEST_F(SimulatedStream, CopiesWhenTheStreamThatWaitsForItComputes) {
  const auto host = pinned(2);
  const auto there = brought(host);
  event_.block(main_);
  there.record_stream(main_);
  EXPECT_EQ(sum(there), 6);
  EXPECT_EQ(simulated::counts().from_pinned, 1);
  EXPECT_EQ(simulated::counts().freed_in_use, 0);
}

TEST_F(SimulatedStream, GivesNanWhereNobodyWaitsForACopy) {
  const auto host = pinned(2);
  EXPECT_TRUE(std::isnan(sum(brought(host))));
}

TEST_F(SimulatedStream, CopiesWhatIsWrittenTooEarly) {
  const auto host = pinned(2);
  const auto there = brought(host);
  host.fill_(5);
  event_.block(main_);
  EXPECT_EQ(sum(there), 15);
  const auto second = brought(host);
  event_.synchronize();
  host.fill_(2);
  EXPECT_EQ(sum(second), 15);
}

// The allocator of pinned memory keeps it for a copy, as CUDA's does.
TEST_F(SimulatedStream, CopiesFromMemoryThatNobodyHoldsAnyMore) {
  const auto there = brought(pinned(2));
  event_.block(main_);
  EXPECT_EQ(sum(there), 6);
}

TEST_F(SimulatedStream, ShowsACopyToTheHostAfterItsEvent) {
  const auto there = at::ones({3}, at::TensorOptions(at::kDouble).device(device_));
  const auto host = pinned(2);
  simulated::reset();
  host.copy_(there, /*non_blocking=*/true);
  event_.record(main_);
  there.fill_(7);  // behind the copy
  EXPECT_TRUE(std::isnan(sum(host)));
  EXPECT_EQ(simulated::counts().waited(), 0);
  wait_for(event_);
  EXPECT_EQ(sum(host), 3);
}

// There and back over the host, which waits for nothing: only the order of streams counts.
TEST_F(SimulatedStream, BringsBackWhatAnotherHasCopiedToTheHost) {
  for (const bool waits : {true, false}) {
    const auto there = at::full({3}, 2.0, at::TensorOptions(at::kDouble).device(device_));
    const auto host = pinned(0);
    host.copy_(there, /*non_blocking=*/true);
    event_.record(main_);
    {
      const c10::StreamGuard on(side_);
      if (waits) event_.block(side_);
      there.copy_(host, /*non_blocking=*/true);
      there.record_stream(side_);
    }
    event_.record(side_);
    event_.block(main_);
    EXPECT_EQ(sum(there) == 6, waits);
  }
}

TEST_F(SimulatedStream, AnswersOnlyAfterAWhile) {
  const auto there = at::ones({3}, at::TensorOptions(at::kDouble).device(device_));
  const auto host = pinned(2);
  host.copy_(there, /*non_blocking=*/true);
  event_.record(main_);
  EXPECT_FALSE(event_.query());
  EXPECT_TRUE(std::isnan(sum(host)));
  for (int times = 0; times < 9 && !event_.query(); ++times) continue;
  EXPECT_TRUE(event_.query());
  EXPECT_EQ(sum(host), 3);
  EXPECT_EQ(simulated::counts().waited(), 0);
}

TEST_F(SimulatedStream, CountsOnlyWaitsForWhatHasNotRun) {
  const auto x = at::ones({3}, at::TensorOptions(at::kDouble).device(device_));
  simulated::reset();
  event_.record(main_);
  const auto y = x + x;
  wait_for(event_);  // the operator came behind it
  EXPECT_EQ(simulated::counts().waited(), 0);
  event_.record(main_);
  wait_for(event_);
  EXPECT_THAT(simulated::counts().waits,
              ElementsAre(Pair("synchronize of an event in ddptrain::wait_for", 1)));
  main_.synchronize();
  EXPECT_EQ(simulated::counts().waited(), 2);
}

TEST_F(SimulatedStream, WaitsWhereABlockingCopyReadsPinnedMemory) {
  const auto there = pinned(2).to(device_);
  EXPECT_EQ(simulated::counts().waited(), 1);
  EXPECT_EQ(sum(there), 6);
}

// The host makes another one of them first, in pageable memory, and CUDA copies that.
TEST_F(SimulatedStream, CountsAConversionAsACopyFromPageableMemory) {
  const auto host = pinned(2);
  const auto there = host.to(device_, at::kFloat, /*non_blocking=*/true);
  EXPECT_EQ(simulated::counts().from_pageable, 1);
  EXPECT_EQ(simulated::counts().from_pinned, 0);
}

TEST_F(SimulatedStream, SpoilsMemoryThatAnotherStreamStillReads) {
  const auto host = pinned(2);
  auto there = brought(pinned(4));
  event_.block(main_);
  EXPECT_EQ(sum(there), 12);
  host.copy_(there, /*non_blocking=*/true);
  there.reset();  // the side stream's next tensor may be there now
  main_.synchronize();
  EXPECT_TRUE(std::isnan(sum(host)));
  EXPECT_EQ(simulated::counts().freed_in_use, 1);
}

TEST_F(SimulatedStream, KeepsMemoryThatIsRecordedForTheStream) {
  const auto host = pinned(2);
  auto there = brought(pinned(4));
  event_.block(main_);
  there.record_stream(main_);
  host.copy_(there, /*non_blocking=*/true);
  there.reset();
  main_.synchronize();
  EXPECT_EQ(sum(host), 12);
  EXPECT_EQ(simulated::counts().freed_in_use, 0);
}

}  // namespace
}  // namespace ddptrain
