// The newest checkpoint that nodes have together, on nodes that lack some of it.
#include "train/loop/local_checkpoints.h"

#include <ATen/ops/arange.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/files.h"
#include "checkpoint/manifest.h"
#include "checkpoint/saving/part_shares.h"
#include "checkpoint/verify.h"
#include "distributed/world.h"
#include "support/ranks.h"
#include "support/temporary_folder.h"
#include "train/loop/group_writers.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 4;

/// Four MiB, one for each rank, with the step in it.
Checkpoint checkpoint_at(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.model = {{"weight", at::arange(1 << 20, at::kFloat).add(static_cast<double>(step))}};
  checkpoint.state = "{}";
  return checkpoint;
}

/// Ranks 0 and 1 are on one node, 2 and 3 on another: they see different folders.
class TwoNodes : public testing::Test {
 protected:
  std::string root(int rank) const { return folder_ / (rank < 2 ? "a" : "b"); }
  static std::string name(std::int64_t step) { return "/" + checkpoint_name(step) + "/"; }

  void save(std::int64_t step) const {
    test::play_all(kRanks, [&](World& world) {
      GroupWriters writers(*world.saving);
      save_checkpoint(root(world.rank), share_of(parts_of(checkpoint_at(step)), world.rank, kRanks),
                      writers, {kLargestFile, {}, true});
    });
  }
  /// The step that all ranks resume from; -1: none. `ranks` may be others than those that saved.
  std::int64_t resumed(std::int64_t after, int ranks = kRanks) const {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(ranks), -1);
    test::play_all(ranks, [&](World& world) {
      LocalCheckpoints local(world, root(world.rank));
      const auto found = local.newest_after(after);
      if (!found) return;
      steps[static_cast<std::size_t>(world.rank)] = found->step;
      EXPECT_TRUE(found->model.at(0).tensor.equal(checkpoint_at(found->step).model[0].tensor));
    });
    for (const auto step : steps) EXPECT_EQ(step, steps[0]);
    return steps[0];
  }
  TemporaryFolder folder_;
};

TEST_F(TwoNodes, EachHaveTheWholeAfterwards) {
  save(3);
  save(5);
  EXPECT_FALSE(fs::exists(root(0) + name(5) + rank_file_name(2, kRanks)));
  EXPECT_EQ(resumed(0), 5);
  for (const int rank : {0, 2})
    EXPECT_TRUE(damages_of(root(rank) + "/" + checkpoint_name(5)).empty());
  EXPECT_EQ(resumed(5), -1) << "none is newer";
  EXPECT_EQ(resumed(3, 3), 5) << "on three ranks";
}

TEST_F(TwoNodes, TakeAnOlderOneWhereAFileIsLost) {
  save(3);
  save(5);
  fs::remove(root(2) + name(5) + rank_file_name(3, kRanks));
  EXPECT_EQ(resumed(0), 3);
}

TEST_F(TwoNodes, TakeAnOlderOneWhereAFileIsDamaged) {
  save(3);
  save(5);
  const auto file = root(2) + name(5) + rank_file_name(2, kRanks);
  auto bytes = read_text(file);
  bytes[bytes.size() / 2] ^= 1;
  write_atomically(file, bytes);
  EXPECT_EQ(resumed(0), 3);
}

TEST_F(TwoNodes, OfWhichOneIsNewTakeNothing) {
  save(5);
  fs::remove_all(root(2));
  EXPECT_EQ(resumed(0), -1);
}

TEST_F(TwoNodes, OfWhichOneIsNewTakeWhatTheOtherHasAlone) {
  save(5);
  EXPECT_EQ(resumed(0), 5);  // each has the whole
  fs::remove_all(root(2));
  EXPECT_EQ(resumed(0), 5);
  EXPECT_TRUE(damages_of(root(2) + "/" + checkpoint_name(5)).empty());
}

TEST_F(TwoNodes, WithoutAManifestOnOneTakeAnOlderOne) {
  save(3);
  save(5);
  fs::remove(root(0) + name(5) + "MANIFEST.json");
  EXPECT_EQ(resumed(0), 3);
}

}  // namespace
}  // namespace ddptrain
