#include "launch/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"

namespace ddptrain {
namespace {

using Variables = std::map<std::string, std::string>;

Topology topology_of(const Variables& variables) {
  return topology_from([&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

std::string refusal(const Variables& variables) {
  try {
    topology_of(variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "";
}

const Variables torchrun{{"RANK", "3"},
                         {"WORLD_SIZE", "4"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "2"},
                         {"MASTER_ADDR", "node0"},
                         {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RUN_ID", "none"},
                         {"TORCHELASTIC_RESTART_COUNT", "2"},
                         {"TORCHELASTIC_USE_AGENT_STORE", "True"}};

const Variables slurm{{"SLURM_JOB_ID", "1234"},
                      {"SLURM_STEP_ID", "0"},
                      {"SLURM_PROCID", "5"},
                      {"SLURM_STEP_NUM_TASKS", "7"},
                      {"SLURM_LOCALID", "1"},
                      {"SLURM_NODEID", "1"},
                      {"SLURM_STEP_TASKS_PER_NODE", "4,3"},
                      {"SLURM_STEP_NODELIST", "gpu[07-08]"}};

TEST(Topology, OfAnEmptyEnvironmentIsAWorldOfOne) {
  const auto topology = topology_of({});
  EXPECT_EQ(topology.world, 1);
  EXPECT_FALSE(topology.joined());
}

TEST(Topology, OfTorchrunIsItsVariables) {
  const auto topology = topology_of(torchrun);
  EXPECT_EQ(topology.rank, 3);
  EXPECT_EQ(topology.world, 4);
  EXPECT_EQ(topology.local_rank, 1);
  EXPECT_EQ(topology.local_world, 2);
  EXPECT_EQ(topology.address, "node0");
  EXPECT_EQ(topology.port, 29500);
  EXPECT_TRUE(topology.store_is_served);
  EXPECT_EQ(topology.run_id, "none.2");
}

TEST(Topology, OfTorchrunWithOneRankIsJoinedToo) {
  auto variables = torchrun;
  variables["RANK"] = variables["LOCAL_RANK"] = "0";
  variables["WORLD_SIZE"] = variables["LOCAL_WORLD_SIZE"] = "1";
  EXPECT_TRUE(topology_of(variables).joined());
}

TEST(Topology, OfAHalfSetEnvironmentNamesTheMissingVariable) {
  for (const auto* name :
       {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_WORLD_SIZE"}) {
    auto variables = torchrun;
    variables.erase(name);
    EXPECT_THAT(refusal(variables), testing::HasSubstr(std::string(name) + " is not set"));
  }
  auto variables = slurm;
  variables.erase("SLURM_LOCALID");
  EXPECT_THAT(refusal(variables), testing::HasSubstr("SLURM_LOCALID is not set"));
}

TEST(Topology, RefusesNumbersThatCannotBe) {
  for (const auto& [name, value] :
       std::multimap<std::string, std::string>{{"RANK", "4"},
                                               {"RANK", "-1"},
                                               {"WORLD_SIZE", "x"},
                                               {"LOCAL_RANK", "2"},
                                               {"MASTER_PORT", "0"},
                                               {"MASTER_PORT", "70000"},
                                               {"LOCAL_WORLD_SIZE", "5"}}) {
    auto variables = torchrun;
    variables[name] = value;
    EXPECT_NE(refusal(variables), "") << name << "=" << value;
  }
}

TEST(Topology, OfASlurmStepComesFromItsTasks) {
  const auto topology = topology_of(slurm);
  EXPECT_EQ(topology.rank, 5);
  EXPECT_EQ(topology.world, 7);
  EXPECT_EQ(topology.local_rank, 1);
  EXPECT_EQ(topology.local_world, 3);
  EXPECT_EQ(topology.address, "gpu07");
  EXPECT_GE(topology.port, 15000);
  EXPECT_LT(topology.port, 25000);
}

TEST(Topology, OfAnSbatchScriptIsAWorldOfOne) {
  auto variables = slurm;
  variables.erase("SLURM_STEP_ID");
  EXPECT_FALSE(topology_of(variables).joined());
}

TEST(Topology, OfOpenMpiOnOneNodeMeetsOnLoopback) {
  const auto topology = topology_of({{"OMPI_COMM_WORLD_RANK", "1"},
                                     {"OMPI_COMM_WORLD_SIZE", "2"},
                                     {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                     {"PMIX_NAMESPACE", "prterun-1"}});
  EXPECT_EQ(topology.rank, 1);
  EXPECT_EQ(topology.address, "127.0.0.1");
}

TEST(Topology, OfMpiOnSeveralNodesWantsAMeetingPoint) {
  Variables variables{
      {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
  EXPECT_THAT(refusal(variables), testing::HasSubstr("MASTER_ADDR is not set"));
  variables["MASTER_ADDR"] = "node0";
  variables["MASTER_PORT"] = "1234";
  EXPECT_EQ(topology_of(variables).port, 1234);
}

TEST(FirstHost, OfASlurmNodeList) {
  EXPECT_EQ(first_host("gpu07"), "gpu07");
  EXPECT_EQ(first_host("gpu07,gpu09"), "gpu07");
  EXPECT_EQ(first_host("gpu[07-09,12],login1"), "gpu07");
  EXPECT_EQ(first_host("gpu[3,5]"), "gpu3");
  EXPECT_EQ(first_host(""), "");
}

TEST(TasksOnNode, OfSlurmsShortForm) {
  EXPECT_EQ(tasks_on_node("4(x2),3", 0), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_on_node("4(x2),3", 3), 0);
  EXPECT_EQ(tasks_on_node("", 0), 0);
}

}  // namespace
}  // namespace ddptrain
