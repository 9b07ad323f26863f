// A run on one machine listens on nothing that another machine could reach.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "program.h"
#include "support/listening.h"

namespace ddptrain::end_to_end {
namespace {

TEST(Network, ARunOnSeveralRanksListensOnLoopbackOnly) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program({"run", "small.yaml", "parallel.mode=ddp", "parallel.devices=3",
                   "batch.global=15", "train.duration=20 steps"},
                  folder.path(), {{"SHAPES", shapes()}});
  std::size_t seen = 0;
  while (program.running()) {
    for (const auto& listener : listening_sockets(program.pid())) {
      ++seen;
      EXPECT_TRUE(listener.is_loopback()) << listener.address << ":" << listener.port;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_GT(seen, 0) << "Gloo's own listeners were expected";
}

TEST(Network, ARunOnOneRankListensOnNothing) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program({"run", "small.yaml"}, folder.path(), {{"SHAPES", shapes()}});
  while (program.running()) {
    EXPECT_TRUE(listening_sockets(program.pid()).empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(program.wait().code, 0);
}

}  // namespace
}  // namespace ddptrain::end_to_end
