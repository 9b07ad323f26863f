#include "launch/several_nodes.h"

#include <fmt/format.h>

#include <cstddef>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "launch/hosts.h"
#include "launch/route.h"

namespace ddptrain {
namespace {

/// How a variable says that there are several nodes.
enum class Says {
  count,    // a number of nodes or processes: above 1
  index,    // the number of this one: above 0
  hosts,    // names: more than one
  file,     // a file with a host per line: more than one
  other,    // a host: not this machine
  cluster,  // JSON, a list of hosts or TensorFlow's {"cluster": {ROLE: [HOST...]}}: more than one
  rank,     // set where another program has started this process as one of several
};

struct NodesSign {
  const char* name;
  Says says;
  const char* launcher;
  const char* start;  // what starts a process per rank there; null: ddptrain reads none of it
};

constexpr const char* kMpi = "mpirun";
constexpr NodesSign kNodesSigns[] = {
    {"SLURM_JOB_NUM_NODES", Says::count, "Slurm", "srun"},
    {"SLURM_NNODES", Says::count, "Slurm", "srun"},
    {"SLURM_PROCID", Says::index, "Slurm", "srun"},
    {"SLURM_NODEID", Says::index, "Slurm", "srun"},
    {"SLURM_STEP_NUM_TASKS", Says::count, "Slurm", "srun"},
    {"LSB_MCPU_HOSTS", Says::hosts, "LSF", "jsrun' or 'mpirun"},
    {"LSB_HOSTS", Says::hosts, "LSF", "jsrun' or 'mpirun"},
    {"LSB_DJOB_HOSTFILE", Says::file, "LSF", "jsrun' or 'mpirun"},
    {"PBS_NODEFILE", Says::file, "PBS", kMpi},
    {"PBS_NUM_NODES", Says::count, "PBS", kMpi},
    {"PALS_RANKID", Says::rank, "PALS", nullptr},
    {"COBALT_NODEFILE", Says::file, "Cobalt", kMpi},
    {"OAR_NODEFILE", Says::file, "OAR", kMpi},
    {"PE_HOSTFILE", Says::file, "Grid Engine", kMpi},
    {"ALPS_APP_PE", Says::rank, "ALPS", nullptr},
    {"_CONDOR_NPROCS", Says::count, "HTCondor", nullptr},
    {"FLUX_JOB_NNODES", Says::count, "Flux", nullptr},
    {"FLUX_JOB_SIZE", Says::count, "Flux", nullptr},
    {"PMIX_RANK", Says::rank, "a PMIx launcher", kMpi},
    {"HOROVOD_SIZE", Says::count, "horovodrun", kMpi},
    {"AWS_BATCH_JOB_NUM_NODES", Says::count, "AWS Batch", nullptr},
    {"SM_HOSTS", Says::cluster, "SageMaker", nullptr},
    {"AZ_BATCH_NODE_LIST", Says::hosts, "Azure Batch", kMpi},
    {"AZ_BATCH_HOST_LIST", Says::hosts, "Azure Batch", kMpi},
    {"AZ_BATCHAI_WORKER_HOSTS", Says::hosts, "Azure Batch AI", kMpi},
    {"BATCH_HOSTS_FILE", Says::file, "Google Batch", kMpi},
    {"CLUSTER_SPEC", Says::cluster, "Vertex AI", nullptr},
    {"TF_CONFIG", Says::cluster, "a TensorFlow job", nullptr},
    {"VC_WORKER_NUM", Says::count, "Volcano", nullptr},
    {"VC_WORKER_HOSTS", Says::hosts, "Volcano", nullptr},
    {"VC_TASK_INDEX", Says::index, "Volcano", nullptr},
    {"PADDLE_TRAINERS_NUM", Says::count, "a Paddle job", nullptr},
    {"DMLC_NUM_WORKER", Says::count, "a parameter-server job", nullptr},
    {"NNODES", Says::count, "another launcher", nullptr},
    {"NODE_RANK", Says::index, "another launcher", nullptr},
    {"GROUP_RANK", Says::index, "torchrun", nullptr},
    {"LOCAL_WORLD_SIZE", Says::count, "torchrun", nullptr},
    {"OMPI_COMM_WORLD_LOCAL_RANK", Says::index, "Open MPI", kMpi},
    {"PET_MASTER_ADDR", Says::other, "Kubeflow", nullptr},
    {"MASTER_ADDR", Says::other, "another launcher", nullptr},
};

std::size_t hosts_in_json(const std::string& text) {
  const auto json = json_or_null(text);
  if (json.is_array()) return json.size();
  if (!json.is_object() || !json.contains("cluster") || !json["cluster"].is_object()) return 0;
  std::size_t count = 0;
  for (const auto& role : json["cluster"]) count += role.is_array() ? role.size() : 0;
  return count;
}

/// What it says, "4" or "2 hosts"; empty: nothing of several nodes.
std::string several(const NodesSign& sign, const std::string& value) {
  if (value.empty()) return {};
  const auto hosts = [](std::size_t count) {
    return count > 1 ? fmt::format("names {} hosts", count) : std::string();
  };
  const auto number = parse_integer(value).value_or(0);
  switch (sign.says) {
    case Says::count:
      return number > 1 ? "is " + value : std::string();
    case Says::index:
      return number > 0 ? "is " + value : std::string();
    case Says::hosts:
      return hosts(hosts_in_list(value).size());
    case Says::file:
      return hosts(hosts_in_file(value).size());
    case Says::other:
      return value == "localhost" || is_loopback(value) ? std::string() : "is '" + value + "'";
    case Says::cluster:
      return hosts(hosts_in_json(value));
    case Says::rank:
      return "is '" + value + "'";
  }
  return {};
}

std::string way_to_start(const NodesSign& sign) {
  const std::string by_hand =
      "set PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT on every node";
  if (sign.start) return fmt::format("start it with '{}', or {}", sign.start, by_hand);
  return by_hand + ", or start it with torchrun";
}

}  // namespace

bool asks_for_single_node(const Environment& environment) {
  const Variables v(environment, "ddptrain");
  const auto value = v.text(kSingleNode);
  if (!value.empty() && value != "0" && value != "1")
    throw Error(Exit::recipe, "{} is '{}' in the environment, 1 or 0 was expected", kSingleNode,
                value);
  return value == "1";
}

void refuse_several_nodes(const Environment& environment) {
  const Variables v(environment, "another launcher");
  for (const auto& sign : kNodesSigns) {
    const auto what = several(sign, v.text(sign.name));
    if (what.empty()) continue;
    throw Error(Exit::recipe,
                "{} {} in the environment ({}): this process is one of a job on several nodes, "
                "does not know its rank, and would train alone; {}; {}=1 uses this node alone",
                sign.name, what, sign.launcher, way_to_start(sign), kSingleNode);
  }
}

}  // namespace ddptrain
