// A long run takes no more memory than a short one.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

// VmRSS, 0 once the process has ended.
long resident_kib(pid_t pid) {
  std::istringstream status(read("/proc/" + std::to_string(pid) + "/status"));
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      long kib = 0;
      status >> kib;
      return kib;
    }
  return 0;
}

/// The resident set of one rank from a step on.
struct Resident {
  long first = 0, most = 0, last = 0;
  int samples = 0;
  void add(long kib) {
    if (kib == 0) return;
    if (samples++ == 0) first = kib;
    most = std::max(most, kib);
    last = kib;
  }
};

TEST(LongMemory, OfEachRankStaysAfterTheFirstThousandSteps) {
  if (!long_tests()) GTEST_SKIP() << kOnlyLong;
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program({"run", "small.yaml", "model={type: mlp, num_classes: auto, hidden: [8]}",
                   "batch.global=4", "optimizer.lr=0.0001", "train.duration=20000 steps",
                   "parallel.mode=ddp", "parallel.devices=2", "log.every=100 steps",
                   "eval.every=500 steps", "checkpoint.every=500 steps"},
                  folder.path(), {{"SHAPES", shapes()}});
  Resident ranks[2];
  while (program.running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (reached_step(program.err()) < 1000) continue;
    const auto pids = children_of(program.pid());
    for (std::size_t rank = 0; rank < pids.size(); ++rank)
      ranks[rank].add(resident_kib(pids[rank]));
  }
  const auto ended = program.wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const auto& rank : ranks) {
    std::cout << "VmRSS in KiB: after 1000 steps " << rank.first << ", most " << rank.most
              << ", last " << rank.last << " (" << rank.samples << " samples)\n";
    EXPECT_GT(rank.samples, 20);
    EXPECT_LT(rank.most - rank.first, 2048);
  }
}

}  // namespace
}  // namespace ddptrain::end_to_end
