// Jobs on several nodes whose ranks are not known are refused, not trained alone.
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

/// Settings that say "several nodes", and what would say the same of one.
struct NodesCase {
  const char* name;
  std::string several;
  std::string one;
};

std::vector<NodesCase> several_nodes(const TemporaryFolder& folder) {
  write_atomically(folder / "two", "node1 slots=4\nnode1 slots=4\nnode2 slots=4\n");
  write_atomically(folder / "one", "node1\nnode1\n");
  return {{"SLURM_JOB_NUM_NODES", "2", "1"},
          {"SLURM_NNODES", "4", "1"},
          {"SLURM_PROCID", "1", "0"},
          {"SLURM_NODEID", "1", "0"},
          {"GROUP_RANK", "1", "0"},
          {"LOCAL_WORLD_SIZE", "2", "1"},
          {"OMPI_COMM_WORLD_LOCAL_RANK", "1", "0"},
          {"PET_MASTER_ADDR", "node0", "localhost"},
          {"SLURM_STEP_NUM_TASKS", "2", "1"},
          {"MASTER_ADDR", "node0", "127.0.0.1"},
          {"PBS_NODEFILE", folder / "two", folder / "one"},
          {"LSB_DJOB_HOSTFILE", folder / "two", folder / "one"},
          {"LSB_MCPU_HOSTS", "hostA 4 hostB 4", "hostA 8"},
          {"LSB_HOSTS", "hostA hostB", "hostA hostA"},
          {"PE_HOSTFILE", folder / "two", folder / "one"},
          {"COBALT_NODEFILE", folder / "two", folder / "one"},
          {"FLUX_JOB_NNODES", "2", "1"},
          {"AWS_BATCH_JOB_NUM_NODES", "2", "1"},
          {"AZ_BATCH_NODE_LIST", "10.0.0.4;10.0.0.5", "10.0.0.4"},
          {"AZ_BATCHAI_WORKER_HOSTS", "10.0.0.4,10.0.0.5", "10.0.0.4"},
          {"SM_HOSTS", R"(["algo-1", "algo-2"])", R"(["algo-1"])"},
          {"TF_CONFIG", R"({"cluster": {"chief": ["a:1"], "worker": ["b:1"]}})",
           R"({"cluster": {"worker": ["a:1"]}})"},
          {"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["a:1"], "workerpool1": ["b:1"]}})",
           R"({"cluster": {"workerpool0": ["a:1"]}})"},
          {"VC_WORKER_NUM", "2", "1"},
          {"VC_WORKER_HOSTS", "job-worker-0.job,job-worker-1.job", "job-worker-0.job"},
          {"BATCH_HOSTS_FILE", folder / "two", folder / "one"},
          {"_CONDOR_NPROCS", "2", "1"},
          {"HOROVOD_SIZE", "2", "1"},
          {"PMIX_RANK", "0", ""},
          {"NNODES", "2", "1"},
          {"NODE_RANK", "1", "0"}};
}

TEST(Topology, NeverIsAWorldOfOneWhereAVariableSaysSeveralNodes) {
  const TemporaryFolder folder;
  for (const auto& each : several_nodes(folder)) {
    const auto message = refusal({{each.name, each.several}});
    EXPECT_THAT(message, testing::HasSubstr(std::string(each.name) + " ")) << each.name;
    EXPECT_THAT(message, testing::HasSubstr("): this process is one of a job on several nodes, "
                                            "does not know its rank, and would train alone; "))
        << each.name;
    EXPECT_THAT(message, testing::EndsWith("; DDPTRAIN_SINGLE_NODE=1 uses this node alone"))
        << each.name;
    EXPECT_EQ(refusal({{each.name, each.one}}), "") << each.name;
    EXPECT_EQ(refusal({{each.name, each.several}, {"DDPTRAIN_SINGLE_NODE", "1"}}), "");
    auto variables = torchrun;  // whose rank is known
    variables[each.name] = each.several;
    EXPECT_EQ(topology_of(variables).rank, 3) << each.name;
  }
}

TEST(Topology, OfASingleNodeAsksNobody) {
  auto variables = torchrun;
  variables["DDPTRAIN_SINGLE_NODE"] = "1";
  EXPECT_FALSE(topology_of(variables).joined());
  variables["DDPTRAIN_SINGLE_NODE"] = "yes";
  EXPECT_THAT(refusal(variables), testing::HasSubstr("DDPTRAIN_SINGLE_NODE is 'yes'"));
}

}  // namespace
}  // namespace ddptrain
