// Checkpoints on the disks of nodes: who has which file, and what is whole.
#include "checkpoint/saving/local_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "checkpoint/saving/together.h"
#include "checkpoint/verify.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kAnyStep = std::numeric_limits<std::int64_t>::max();

SaveOptions on_each_machine() { return {kLargestFile, {}, true}; }

using Nodes = std::vector<std::vector<LocalPart>>;

WholeLocal newest(const Nodes& nodes, std::int64_t above, std::vector<std::string>& notes) {
  return newest_whole(nodes, above, kAnyStep, notes);
}

TEST(LocalParts, AreTheFilesOfTheRanksOfANode) {
  const TemporaryFolder folder;
  const std::vector<std::string> roots{folder / "a", folder / "b"};
  const auto checkpoint = larger_checkpoint();
  for (const auto& path : save_together(roots, divided(checkpoint, 4), on_each_machine()))
    ASSERT_TRUE(path == roots[0] + "/step-00000007" || path == roots[1] + "/step-00000007") << path;
  EXPECT_THAT(names_in(roots[0] + "/step-00000007"),
              ElementsAre("MANIFEST.json", "rank-00000-of-00004.bin", "rank-00002-of-00004.bin",
                          "state.json"));
  EXPECT_THAT(names_in(roots[1] + "/step-00000007"),
              ElementsAre("MANIFEST.json", "rank-00001-of-00004.bin", "rank-00003-of-00004.bin",
                          "state.json"));
  for (const auto* name : {"/step-00000007/MANIFEST.json", "/step-00000007/state.json"})
    EXPECT_EQ(read_bytes(roots[0] + name), read_bytes(roots[1] + name));
  const Nodes nodes{local_parts(roots[0]), local_parts(roots[1])};
  ASSERT_EQ(nodes[0].size(), 1U);
  EXPECT_THAT(nodes[0][0].here, ElementsAre(0, 2));
  EXPECT_THAT(nodes[1][0].here, ElementsAre(1, 3));
  EXPECT_THAT(nodes[1][0].needed, ElementsAre(0, 1, 2, 3));
  // With the files of the others it is a checkpoint as any other.
  for (const auto* name : {"rank-00001-of-00004.bin", "rank-00003-of-00004.bin"})
    fs::copy(roots[1] + "/step-00000007/" + name, roots[0] + "/step-00000007/" + name);
  EXPECT_EQ(refusal_of(roots[0] + "/step-00000007"), "");
}

TEST(LocalParts, OnOneNodeAreAWholeCheckpoint) {
  const TemporaryFolder folder;
  const auto paths =
      save_together(folder.path(), divided(larger_checkpoint(), 3), on_each_machine());
  EXPECT_EQ(refusal_of(paths[0]), "");
  EXPECT_THAT(damages_of(paths[0]), ElementsAre());
}

TEST(LocalParts, TravelAsText) {
  const std::vector<LocalPart> parts{{9, "abc", {0, 1, 5}, {1}}, {3, "d", {}, {}}};
  const auto back = parse_local_parts(to_text(parts));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].step, 9);
  EXPECT_EQ(back[0].manifest, "abc");
  EXPECT_THAT(back[0].needed, ElementsAre(0, 1, 5));
  EXPECT_THAT(back[0].here, ElementsAre(1));
}

TEST(NewestWhole, IsThatOfWhichNodesTogetherHaveEveryFile) {
  const LocalPart nine_of_a{9, "n", {0, 1, 2}, {0, 1}}, nine_of_b{9, "n", {0, 1, 2}, {1, 2}};
  const LocalPart five{5, "f", {0}, {0}};
  std::vector<std::string> notes;
  const auto whole = newest({{nine_of_a, five}, {nine_of_b}, {}}, 3, notes);
  EXPECT_EQ(whole.step, 9);
  EXPECT_THAT(whole.holders, ElementsAre(0, 0, 1));
  EXPECT_TRUE(whole.is_there(1, 1));
  EXPECT_FALSE(whole.is_there(2, 0));
  EXPECT_THAT(notes, ElementsAre());
  EXPECT_EQ(newest({{nine_of_a}, {nine_of_b}}, 9, notes).step, -1) << "none is newer";
  EXPECT_EQ(newest_whole({{nine_of_a, five}, {nine_of_b}}, 3, 9, notes).step, 5);
}

TEST(NewestWhole, SaysOfWhichNewerOneFilesAreMissing) {
  const LocalPart nine_of_a{9, "n", {0, 1, 2, 3}, {0, 1}}, five{5, "f", {0}, {0}};
  std::vector<std::string> notes;
  EXPECT_EQ(newest({{nine_of_a, five}, {}}, 3, notes).step, 5);
  EXPECT_THAT(notes, ElementsAre("the local checkpoint of step 9 is not used: no node has the "
                                 "files of ranks 2, 3"));
}

// Two saves of one step, by runs that went different ways from an earlier checkpoint.
TEST(NewestWhole, DoesNotMixSaves) {
  const LocalPart one{9, "one", {0, 1}, {0}}, other{9, "other", {0, 1}, {1}};
  std::vector<std::string> notes;
  EXPECT_EQ(newest({{one}, {other}}, 3, notes).step, -1);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("the file of rank 1"), HasSubstr("the file of rank 0")));
}

TEST(PruneLocal, KeepsTheNewestAndForgetsTheLater) {
  const TemporaryFolder folder;
  for (const std::int64_t step : {1, 2, 3, 4, 5})
    save_checkpoint(folder.path(), small_checkpoint(step), on_each_machine());
  prune_local_checkpoints(folder.path(), 3);
  EXPECT_THAT(names_in(folder.path()),
              ElementsAre("step-00000003", "step-00000004", "step-00000005"));
  forget_later_checkpoints(folder.path(), 3);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000003"));
}

TEST(LocalParts, LooksAtTheDiskOfEachNode) {
  const TemporaryFolder folder;
  auto larger = small_checkpoint(1);
  larger.model = {{"w", ramp({1}).expand({std::int64_t{1} << 58})}};
  EXPECT_THAT([&] { save_checkpoint(folder.path(), larger, on_each_machine()); },
              testing::ThrowsMessage<Error>(testing::AllOf(
                  testing::StartsWith("no space for a checkpoint in '" + folder.path() + "': 1024"),
                  testing::EndsWith("or choose another 'checkpoint.local.dir'"))));
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

}  // namespace
}  // namespace ddptrain
