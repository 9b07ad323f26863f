// Flags and recipe, with and against a launcher's variables.
#include "launch/given_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"

namespace ddptrain {
namespace {

using Given = std::map<std::string, std::string>;

Topology topology(const GivenNodes& given, const Given& variables = {}) {
  return topology_among(given, [&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

std::string refusal_of(const GivenNodes& given, const Given& variables = {}) {
  try {
    topology(given, variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "";
}

GivenNodes nodes(std::optional<int> count, std::optional<int> rank = {},
                 std::optional<HostPort> meeting = {}) {
  GivenNodes given;
  given.nodes = count;
  given.rank = rank;
  given.meeting = std::move(meeting);
  return given;
}

/// A process of srun on each of two nodes.
const Given kOnePerNode{{"SLURM_JOB_ID", "12"},
                        {"SLURM_STEP_ID", "0"},
                        {"SLURM_PROCID", "1"},
                        {"SLURM_STEP_NUM_TASKS", "2"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_NODEID", "1"},
                        {"SLURM_JOB_NUM_NODES", "2"},
                        {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                        {"SLURM_STEP_NODELIST", "n[1-2]"}};

Given ranks_of_torchrun() {
  return {{"RANK", "3"},
          {"WORLD_SIZE", "4"},
          {"LOCAL_RANK", "1"},
          {"LOCAL_WORLD_SIZE", "2"},
          {"MASTER_ADDR", "node0"},
          {"MASTER_PORT", "29500"}};
}

TEST(GivenNodes, AreAllThatIsKnownWithoutALauncher) {
  const auto node = topology(nodes(4, 3, HostPort{"node0", 29501}));
  EXPECT_TRUE(node.is_node);
  EXPECT_EQ(node.world, 4);
  EXPECT_EQ(node.rank, 3);
  EXPECT_EQ(node.local_world, 0);
  EXPECT_EQ(node.address, "node0");
  EXPECT_EQ(node.port, 29501);
  EXPECT_EQ(node.named_by, "--address");
}

TEST(GivenNodes, MeetAtThePortOfTorchrunUnlessItIsGiven) {
  EXPECT_EQ(topology(nodes(2, 0, HostPort{"node0", {}})).port, 29500);
}

TEST(GivenNodes, OfWhichThereIsOneAreNoOthers) {
  EXPECT_FALSE(topology(nodes(1)).joined());
  EXPECT_FALSE(topology(nodes(1, 0)).joined());
  EXPECT_FALSE(topology(nodes({})).joined());
}

TEST(GivenNodes, WantTheirRankAndAnAddress) {
  EXPECT_THAT(refusal_of(nodes(2)), testing::HasSubstr("--nodes is 2, and no launcher says which "
                                                       "of them this is: add '--node-rank K'"));
  EXPECT_THAT(refusal_of(nodes(2)), testing::HasSubstr("'--nodes 1' trains on this machine alone"));
  EXPECT_THAT(refusal_of(nodes(2, 0)), testing::HasSubstr("add '--address HOST[:PORT]'"));
  auto recipe = nodes(2);
  recipe.nodes_by = "parallel.nodes";
  EXPECT_THAT(refusal_of(recipe), testing::HasSubstr("'parallel.nodes=1' trains on this machine"));
}

TEST(GivenNodes, AreNumberedFromZero) {
  EXPECT_EQ(refusal_of(nodes(2, 2, HostPort{"node0", {}})),
            "--node-rank is 2, and --nodes is 2: nodes are numbered from 0 to 1");
}

TEST(GivenNodes, AreWantedByARankOrAnAddress) {
  EXPECT_THAT(refusal_of(nodes({}, 1)), testing::HasSubstr("add '--nodes N'"));
  EXPECT_THAT(refusal_of(nodes({}, {}, HostPort{"node0", {}})),
              testing::HasSubstr("add '--nodes N'"));
  auto recipe = nodes({}, {}, HostPort{"node0", {}});
  recipe.meeting_by = "parallel.rendezvous";  // of a recipe that also runs on one machine
  EXPECT_FALSE(topology(recipe).joined());
}

TEST(GivenNodes, MakeAProcessOnEachNodeStartTheRanksOfItsNode) {
  const auto rank = topology(nodes({}), kOnePerNode);
  EXPECT_FALSE(rank.is_node);
  const auto node = topology(nodes(2), kOnePerNode);
  EXPECT_TRUE(node.is_node);
  EXPECT_EQ(node.rank, 1);
  EXPECT_EQ(node.world, 2);
  EXPECT_EQ(node.local_world, 0);
  EXPECT_EQ(node.address, "n1");
  EXPECT_EQ(node.port, 15000 + 12 * 7);
}

TEST(GivenNodes, MakeTheOneProcessOfALauncherStartAllRanks) {
  EXPECT_FALSE(topology(nodes(1), {{"SLURM_JOB_ID", "12"},
                                   {"SLURM_STEP_ID", "0"},
                                   {"SLURM_PROCID", "0"},
                                   {"SLURM_STEP_NUM_TASKS", "1"},
                                   {"SLURM_LOCALID", "0"},
                                   {"SLURM_STEP_TASKS_PER_NODE", "1"}})
                   .joined());
}

TEST(GivenNodes, LeaveALaunchersRanksAsTheyAre) {
  const auto rank = topology(nodes(2, 1), ranks_of_torchrun());
  EXPECT_FALSE(rank.is_node);
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.world, 4);
}

TEST(GivenNodes, ThatContradictALauncherAreRefused) {
  EXPECT_THAT(refusal_of(nodes(4), kOnePerNode),
              testing::StartsWith("--nodes is 4, and a launcher started this process on 2 nodes: "
                                  "start it on 4, or leave --nodes out"));
  EXPECT_THAT(
      refusal_of(nodes(2, 0), kOnePerNode),
      testing::StartsWith("--node-rank is 0, and a launcher started this process as node 1: "
                          "leave --node-rank out"));
  EXPECT_THAT(refusal_of(nodes(2, 0), ranks_of_torchrun()), testing::HasSubstr("as node 1"));
  EXPECT_THAT(refusal_of(nodes(2, {}, HostPort{"node7", {}}), ranks_of_torchrun()),
              testing::HasSubstr("--address is 'node7:29500', and MASTER_ADDR and MASTER_PORT are "
                                 "'node0:29500' in the environment: give one of them"));
  EXPECT_THAT(refusal_of(nodes(2), {{"DDPTRAIN_SINGLE_NODE", "1"}}),
              testing::HasSubstr("DDPTRAIN_SINGLE_NODE is 1"));
}

TEST(GivenNodes, MayRepeatWhatALauncherSays) {
  EXPECT_EQ(topology(nodes(2, 1, HostPort{"node0", 29500}), ranks_of_torchrun()).rank, 3);
}

TEST(GivenNodes, MeetWhereTheyAreGivenRatherThanWhereAJobSuggests) {
  const auto node = topology(nodes(2, {}, HostPort{"head", 4000}), kOnePerNode);
  EXPECT_EQ(node.address, "head");
  EXPECT_EQ(node.port, 4000);
  EXPECT_EQ(node.named_by, "--address");
}

TEST(GivenNodes, GoBeforeSignsOfSeveralNodes) {
  const Given allocated{{"SLURM_JOB_NUM_NODES", "2"}};  // a shell of salloc
  EXPECT_TRUE(topology(nodes(2, 0, HostPort{"node0", {}}), allocated).is_node);
  EXPECT_THAT(refusal_of(nodes({}), allocated), testing::HasSubstr("SLURM_JOB_NUM_NODES"));
  EXPECT_THAT(refusal_of(nodes(1), allocated), testing::HasSubstr("DDPTRAIN_SINGLE_NODE=1"));
}

TEST(GivenNodes, OfAPodAreCheckedToo) {
  const Given pod{{"PET_NNODES", "2"},
                  {"PET_NODE_RANK", "1"},
                  {"PET_NPROC_PER_NODE", "2"},
                  {"PET_MASTER_ADDR", "set-node-0-0.set"},
                  {"PET_MASTER_PORT", "29500"}};
  const auto node = topology(nodes(2), pod);
  EXPECT_TRUE(node.is_node);
  EXPECT_EQ(node.local_world, 2);
  EXPECT_THAT(refusal_of(nodes(3), pod), testing::HasSubstr("on 2 nodes: start it on 3"));
}

// The training operator before 1.7 sets no PET_*: WORLD_SIZE counts pods.
TEST(GivenNodes, MakeAPodOfAnOlderPytorchJobANode) {
  const Given pod{{"MASTER_ADDR", "job-master-0"},
                  {"MASTER_PORT", "23456"},
                  {"WORLD_SIZE", "2"},
                  {"RANK", "1"}};
  const auto node = topology(nodes(2), pod);
  EXPECT_TRUE(node.is_node);
  EXPECT_EQ(node.world, 2);
  EXPECT_EQ(node.rank, 1);
  EXPECT_EQ(node.local_world, 0);
}

}  // namespace
}  // namespace ddptrain
