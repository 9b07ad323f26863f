#include "launch/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/files/files.h"
#include "launch/topology_of.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using namespace test;

const Settings slurm{{"SLURM_JOB_ID", "1234"},
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

TEST(Topology, OfSlurmKnowsHowManyGpusATaskWasGiven) {
  EXPECT_EQ(topology_of(slurm).gpus_of_rank, 0);
  for (const auto& [given, count] : std::map<std::string, int>{
           {"2", 2}, {"a100:4", 4}, {"a100:1,v100:1", 2}, {"some", 0}, {"", 0}}) {
    auto variables = slurm;
    variables["SLURM_GPUS_PER_TASK"] = given;
    EXPECT_EQ(topology_of(variables).gpus_of_rank, count) << given;
  }
}

/// What Slurm sets in the script of sbatch and the shell of salloc, on one node.
Settings of_a_script() {
  auto variables = slurm;
  for (const auto* name : {"SLURM_STEP_ID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_STEP_NODELIST"})
    variables.erase(name);
  for (const auto* name : {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"}) variables[name] = "0";
  variables["SLURM_STEP_NUM_TASKS"] = "1";
  return variables;
}

TEST(Topology, OfAnSbatchScriptIsAWorldOfOne) {
  auto variables = of_a_script();
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
  Settings variables{
      {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
  EXPECT_THAT(refusal(variables), testing::HasSubstr("MASTER_ADDR is not set"));
  variables["MASTER_ADDR"] = "node0";
  variables["MASTER_PORT"] = "1234";
  EXPECT_EQ(topology_of(variables).port, 1234);
}

TEST(Topology, OfSlurmTakesTheFirstHostOfSeveralBrackets) {
  auto variables = slurm;
  variables["SLURM_STEP_NODELIST"] = "rack[1-2]node[01-04]";
  EXPECT_EQ(topology_of(variables).address, "rack1node01");
}

// Each rank would count its own node by its local rank, and none would find the others.
TEST(Topology, OfSlurmWantsToKnowTheTasksOfANode) {
  auto variables = slurm;
  variables.erase("SLURM_STEP_TASKS_PER_NODE");
  EXPECT_THAT(refusal(variables), testing::HasSubstr("SLURM_STEP_TASKS_PER_NODE is not set"));
  variables["SLURM_STEP_NUM_NODES"] = "1";
  EXPECT_EQ(topology_of(variables).local_world, 7);
}

TEST(Topology, SaysWhatNamedTheMeetingPoint) {
  EXPECT_EQ(topology_of(torchrun).named_by, "MASTER_ADDR and MASTER_PORT");
  EXPECT_THAT(topology_of(slurm).named_by, testing::HasSubstr("the job's first host"));
}

TEST(Topology, OfSkyPilotWantsTheNumberOfNodes) {
  EXPECT_THAT(refusal({{"SKYPILOT_NODE_RANK", "1"}}),
              testing::HasSubstr("SKYPILOT_NUM_NODES is not set"));
}

TEST(Topology, OfSlurmKnowsJobsAboveAMillion) {
  auto variables = slurm;
  variables["SLURM_JOB_ID"] = "67043327";  // the largest of Slurm's default MaxJobId
  EXPECT_EQ(topology_of(variables).rank, 5);
}

// The shell of salloc, and the script of sbatch, are steps too, with numbers from 0xfffffffa on.
TEST(Topology, OfASpecialStepIsNotThatOfSrun) {
  for (const auto* step : {"4294967290", "4294967291"}) {
    auto variables = of_a_script();
    variables["SLURM_STEP_ID"] = step;
    EXPECT_FALSE(topology_of(variables).joined());
    variables["SLURM_JOB_NUM_NODES"] = "2";
    EXPECT_EQ(refusal(variables),
              "SLURM_JOB_NUM_NODES is 2 in the environment (Slurm): this process is one of a job "
              "on several nodes, does not know its rank, and would train alone; start it with "
              "'srun', or set PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT on "
              "every node; DDPTRAIN_SINGLE_NODE=1 uses this node alone");
  }
}

// The daemons of mpirun are a step of srun, and its ranks inherit their variables.
TEST(Topology, OfMpirunUnderSlurmIsThatOfMpirun) {
  auto variables = slurm;
  variables.insert({{"OMPI_COMM_WORLD_RANK", "9"},
                    {"OMPI_COMM_WORLD_SIZE", "16"},
                    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"},
                    {"PMIX_NAMESPACE", "prterun-1"},
                    {"SLURM_JOB_NODELIST", "gpu[07-08]"}});
  const auto topology = topology_of(variables);
  EXPECT_EQ(topology.rank, 9);
  EXPECT_EQ(topology.address, "gpu07");
}

// As Kubeflow's trainer sets them: https://www.kubeflow.org/docs/components/trainer
const Settings train_job{{"PET_NNODES", "4"},
                         {"PET_NPROC_PER_NODE", "8"},
                         {"PET_NODE_RANK", "3"},
                         {"PET_MASTER_ADDR", "job-node-0-0.job"},
                         {"PET_MASTER_PORT", "29400"}};

TEST(Topology, OfAKubeflowPodIsANodeThatStartsItsRanks) {
  const auto node = topology_of(train_job);
  EXPECT_TRUE(node.is_node);
  EXPECT_TRUE(node.joined());
  EXPECT_EQ(node.rank, 3);
  EXPECT_EQ(node.world, 4);
  EXPECT_EQ(node.local_world, 8);
  EXPECT_EQ(node.address, "job-node-0-0.job");
  EXPECT_EQ(node.port, 29400);
  const auto rank = rank_on_node(node, 2, 8);
  EXPECT_FALSE(rank.is_node);
  EXPECT_EQ(rank.rank, 26);
  EXPECT_EQ(rank.world, 32);
  EXPECT_EQ(rank.local_rank, 2);
  EXPECT_EQ(rank.local_world, 8);
  EXPECT_EQ(rank.address, node.address);
}

TEST(Topology, OfAKubeflowPodLeavesAutoToItsDevices) {
  auto variables = train_job;
  for (const auto* word : {"auto", "gpu", "cpu"}) {
    variables["PET_NPROC_PER_NODE"] = word;
    EXPECT_EQ(topology_of(variables).local_world, 0) << word;
  }
  variables.erase("PET_NPROC_PER_NODE");
  EXPECT_EQ(topology_of(variables).local_world, 0);
  variables["PET_NNODES"] = "1";
  variables["PET_NODE_RANK"] = "0";
  EXPECT_FALSE(topology_of(variables).joined());
}

// PyTorchJob sets RANK to that of the pod, and WORLD_SIZE to the number of all ranks.
TEST(Topology, OfAPytorchJobsPodIsANodeToo) {
  auto variables = train_job;
  variables.insert({{"RANK", "3"},
                    {"WORLD_SIZE", "32"},
                    {"MASTER_ADDR", "job-master-0"},
                    {"MASTER_PORT", "23456"}});
  EXPECT_TRUE(topology_of(variables).is_node);
  variables.insert({{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "8"}});  // a child of torchrun there
  EXPECT_FALSE(topology_of(variables).is_node);
}

// By SetClusterSpec of the training operator (pkg/controller.v1/pytorch/envvar.go), in a job of a
// Master and three Workers, which `nprocPerNode` gives 8 or, by default, auto.
Settings pytorch_job(const std::string& pod, const std::string& ranks) {
  return {{"PYTHONUNBUFFERED", "1"},
          {"MASTER_PORT", "23456"},
          {"PET_MASTER_PORT", "23456"},
          {"MASTER_ADDR", "job-master-0"},
          {"PET_MASTER_ADDR", "job-master-0"},
          {"WORLD_SIZE", ranks == "auto" ? "4" : "32"},
          {"RANK", pod},
          {"PET_NODE_RANK", pod},
          {"PET_NPROC_PER_NODE", ranks},
          {"PET_NNODES", "4"}};
}

TEST(Topology, OfThePodsOfAPytorchJobIsThatOfNodes) {
  for (const std::string pod : {"0", "3"})
    for (const std::string ranks : {"8", "auto"}) {
      const auto node = topology_of(pytorch_job(pod, ranks));
      EXPECT_TRUE(node.is_node);
      EXPECT_EQ(node.world, 4);
      EXPECT_EQ(node.rank, std::stoi(pod));
      EXPECT_EQ(node.local_world, ranks == "auto" ? 0 : 8);
      EXPECT_EQ(node.address, "job-master-0");
      EXPECT_EQ(node.port, 23456);
    }
}

TEST(Topology, OfAHalfSetKubeflowPodNamesTheMissingVariable) {
  for (const auto* name : {"PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}) {
    auto variables = train_job;
    variables.erase(name);
    EXPECT_THAT(refusal(variables), testing::HasSubstr(std::string(name) + " is not set"));
  }
  auto variables = train_job;
  variables["PET_NNODES"] = "1:4";
  EXPECT_EQ(refusal(variables),
            "PET_NNODES is '1:4' in the environment: a job whose size changes (elastic) is not "
            "supported; give it one number of nodes");
  variables = train_job;
  variables["PET_NODE_RANK"] = "4";
  EXPECT_EQ(refusal(variables),
            "the environment of Kubeflow contradicts itself: the node's rank is 4 of 4 nodes");
}

// https://docs.skypilot.co/en/stable/running-jobs/environment-variables.html
const Settings skypilot{{"SKYPILOT_NUM_NODES", "2"},
                        {"SKYPILOT_NODE_RANK", "1"},
                        {"SKYPILOT_NODE_IPS", "10.0.0.5\n10.0.0.6"},
                        {"SKYPILOT_NUM_GPUS_PER_NODE", "4"},
                        {"SKYPILOT_TASK_ID", "sky-2026-01-01-10-00-00-000000_cluster_id-1"}};

TEST(Topology, OfSkyPilotIsANodeThatStartsItsRanks) {
  const auto node = topology_of(skypilot);
  EXPECT_TRUE(node.is_node);
  EXPECT_EQ(node.rank, 1);
  EXPECT_EQ(node.world, 2);
  EXPECT_EQ(node.local_world, 4);
  EXPECT_EQ(node.address, "10.0.0.5");
  auto first = skypilot;
  first["SKYPILOT_NODE_RANK"] = "0";
  EXPECT_EQ(topology_of(first).port, node.port);
  first.erase("SKYPILOT_NUM_GPUS_PER_NODE");
  EXPECT_EQ(topology_of(first).local_world, 0);
  first["SKYPILOT_NUM_NODES"] = "1";
  first["SKYPILOT_NODE_IPS"] = "10.0.0.5";
  EXPECT_FALSE(topology_of(first).joined());
}

TEST(Topology, OfAHalfSetSkyPilotNamesTheMissingVariable) {
  for (const auto* name : {"SKYPILOT_NODE_RANK", "SKYPILOT_NODE_IPS"}) {
    auto variables = skypilot;
    variables.erase(name);
    EXPECT_THAT(refusal(variables), testing::HasSubstr(std::string(name) + " is not set"));
  }
}

// As Lightning's LSFEnvironment describes jsrun: the first host of the list is the launch node.
TEST(Topology, OfJsrunMeetsOnTheFirstComputeHost) {
  Settings variables{{"JSM_NAMESPACE_RANK", "7"},
                     {"JSM_NAMESPACE_SIZE", "12"},
                     {"JSM_NAMESPACE_LOCAL_RANK", "1"},
                     {"JSM_NAMESPACE_LOCAL_SIZE", "6"},
                     {"OMPI_COMM_WORLD_RANK", "7"},
                     {"LSB_JOBID", "1234567"},
                     {"LSB_MCPU_HOSTS", "batch5 1 h41n08 42 h41n09 42"}};
  const auto topology = topology_of(variables);
  EXPECT_EQ(topology.rank, 7);
  EXPECT_EQ(topology.world, 12);
  EXPECT_EQ(topology.local_world, 6);
  EXPECT_EQ(topology.address, "h41n08");
  variables["JSM_NAMESPACE_RANK"] = "0";
  EXPECT_EQ(topology_of(variables).port, topology.port);
  variables.erase("JSM_NAMESPACE_LOCAL_SIZE");
  EXPECT_EQ(topology_of(variables).local_world, 6);
}

TEST(Topology, OfMpirunUnderASchedulerMeetsOnItsFirstHost) {
  const TemporaryFolder folder;
  write_atomically(folder / "hosts", "node3\nnode3\nnode4\nnode4\n");
  const Settings rank{{"OMPI_COMM_WORLD_RANK", "2"},
                      {"OMPI_COMM_WORLD_SIZE", "4"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  for (const auto& [name, value] : Settings{{"LSB_DJOB_HOSTFILE", folder / "hosts"},
                                            {"LSB_MCPU_HOSTS", "node3 2 node4 2"},
                                            {"PBS_NODEFILE", folder / "hosts"}}) {
    auto variables = rank;
    variables[name] = value;
    variables["PMIX_NAMESPACE"] = "1234";
    EXPECT_EQ(topology_of(variables).address, "node3") << name;
    variables.erase("PMIX_NAMESPACE");  // no port that the ranks of all nodes would find
    EXPECT_THAT(refusal(variables), testing::HasSubstr("MASTER_PORT is not set")) << name;
    variables["LSB_JOBID"] = "77";
    EXPECT_EQ(topology_of(variables).address, "node3") << name;
  }
}

}  // namespace
}  // namespace ddptrain
