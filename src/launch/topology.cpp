#include "launch/topology.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "launch/hosts.h"
#include "launch/several_nodes.h"

namespace ddptrain {
namespace {

// What only a wrong environment can violate.
Topology checked(Topology topology, const Variables& variables) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Exit::recipe, "the environment of {} contradicts itself: {}", variables.launcher(),
                what);
  };
  const auto outside = [&](const char* what, int rank, const char* size, int world) {
    if (rank >= world) refuse(fmt::format("{} is {} and {} is {}", what, rank, size, world));
  };
  outside("the rank", topology.rank, "the world size", topology.world);
  outside("the local rank", topology.local_rank, "the local world size", topology.local_world);
  if (topology.local_world > topology.world)
    refuse("the local world size is larger than the world size");
  if (topology.port < 1 || topology.port > 65535)
    refuse(fmt::format("port {} is not in 1 .. 65535", topology.port));
  return topology;
}

Topology from_torchrun(const Variables& v) {
  Topology topology;
  topology.rank = v.number("RANK");
  topology.world = v.number("WORLD_SIZE");
  topology.address = v.required("MASTER_ADDR");
  topology.port = v.number("MASTER_PORT");
  // Kubernetes' jobs start one process per node and set neither of these two.
  if (v.has("LOCAL_RANK") || v.has("LOCAL_WORLD_SIZE")) {
    topology.local_rank = v.number("LOCAL_RANK");
    topology.local_world = v.number("LOCAL_WORLD_SIZE");
  }
  topology.store_is_served = v.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  topology.run_id = v.text("TORCHELASTIC_RUN_ID") + "." + v.text("TORCHELASTIC_RESTART_COUNT");
  return checked(topology, v);
}

bool is_on_one_node(const Topology& topology) { return topology.local_world == topology.world; }

// Where the ranks meet: MASTER_ADDR and MASTER_PORT where they are set, else `host` and a port
// that follows from the job, so that all ranks find the same one.
void set_meeting_point(Topology& topology, const Variables& v, const std::string& host, int port) {
  const bool one_node = !topology.is_node && is_on_one_node(topology);
  topology.address = v.has("MASTER_ADDR") ? v.text("MASTER_ADDR") : one_node ? "127.0.0.1" : host;
  if (topology.address.empty()) v.required("MASTER_ADDR");
  topology.port = v.number_or("MASTER_PORT", port);
  topology.address_is_derived = !v.has("MASTER_ADDR");
  if (topology.address_is_derived && !one_node)
    topology.named_by = "the job's first host; MASTER_ADDR and MASTER_PORT name another";
}

int port_of(const std::string& job) { return 15000 + static_cast<int>(hash_text(job) % 10000); }

/// As torchrun's --nproc-per-node: a number, or a word by which the devices decide: 0.
int ranks_per_node(const Variables& v, const char* name) {
  const auto text = v.text(name);
  const bool open = text.empty() || text == "auto" || text == "gpu" || text == "cpu";
  return open ? 0 : v.number(name);
}

Topology checked_node(const Topology& node, const Variables& v) {
  if (node.rank >= node.world)
    throw Error(Exit::recipe,
                "the environment of {} contradicts itself: the node's rank is {} of {}",
                v.launcher(), node.rank, plural(node.world, "node"));
  auto as_rank = node;  // of one rank per node
  as_rank.local_world = 1;
  checked(as_rank, v);
  return node;
}

// Kubeflow's TrainJob, and PyTorchJob, start one process per pod and give it torchrun's options.
Topology from_kubeflow(const Variables& v) {
  if (v.text("PET_NNODES").find(':') != std::string::npos)
    throw Error(Exit::recipe,
                "PET_NNODES is '{}' in the environment: a job whose size changes (elastic) is not "
                "supported; give it one number of nodes",
                v.text("PET_NNODES"));
  Topology node;
  node.is_node = true;
  node.world = v.number("PET_NNODES");
  node.local_world = ranks_per_node(v, "PET_NPROC_PER_NODE");
  if (node.world > 1 || v.has("PET_NODE_RANK")) node.rank = v.number("PET_NODE_RANK");
  if (node.world == 1 && node.local_world <= 1) return {};  // its devices decide
  node.address = v.required("PET_MASTER_ADDR");
  node.port = v.number("PET_MASTER_PORT");
  node.named_by = "PET_MASTER_ADDR and PET_MASTER_PORT";
  node.run_id = v.text("PET_RDZV_ID");
  return checked_node(node, v);
}

Topology from_skypilot(const Variables& v) {
  const auto hosts = hosts_in_list(v.text("SKYPILOT_NODE_IPS"));
  Topology node;
  node.is_node = true;
  node.world = hosts.empty() ? v.number("SKYPILOT_NUM_NODES")
                             : v.number_or("SKYPILOT_NUM_NODES", static_cast<int>(hosts.size()));
  if (node.world <= 1) return {};
  node.rank = v.number("SKYPILOT_NODE_RANK");
  if (parse_integer(v.text("SKYPILOT_NUM_GPUS_PER_NODE")))  // it may be a fraction of one
    node.local_world = v.number("SKYPILOT_NUM_GPUS_PER_NODE");
  else
    node.local_world = 0;
  node.run_id = v.text("SKYPILOT_TASK_ID");
  if (hosts.empty() && !v.has("MASTER_ADDR")) v.required("SKYPILOT_NODE_IPS");
  set_meeting_point(node, v, hosts.empty() ? "" : hosts[0], port_of(node.run_id));
  return checked_node(node, v);
}

// Slurm gives the numbers from here on to steps that srun did not start: the script of sbatch,
// the shell of salloc.
constexpr std::int64_t kFirstSpecialStep = 0xfffffff0;
constexpr int kMostJobs = 2'000'000'000;

/// Whether srun started this process: only a step's own environment says which rank it is.
bool is_started_by_srun(const Variables& v) {
  const auto step = parse_integer(v.text("SLURM_STEP_ID"));
  return v.has("SLURM_STEP_ID") && v.has("SLURM_PROCID") && !(step && *step >= kFirstSpecialStep);
}

/// Of "2", "a100:2" or "a100:1,v100:1".
int gpus_of_task(std::string_view given) {
  int all = 0;
  while (!given.empty()) {
    const auto end = std::min(given.find(','), given.size());
    const auto part = given.substr(0, end);
    const auto number = parse_integer(part.substr(part.rfind(':') + 1));
    if (!number) return 0;
    all += static_cast<int>(*number);
    given.remove_prefix(std::min(end + 1, given.size()));
  }
  return all;
}

Topology from_slurm(const Variables& v) {
  Topology topology;
  topology.rank = v.number("SLURM_PROCID");
  topology.world =
      v.has("SLURM_STEP_NUM_TASKS") ? v.number("SLURM_STEP_NUM_TASKS") : v.number("SLURM_NTASKS");
  topology.local_rank = v.number("SLURM_LOCALID");
  const auto tasks = v.first_of({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  topology.local_world = tasks_on_node(tasks, v.number_or("SLURM_NODEID", 0));
  if (tasks.empty() && topology.world > 1) {
    const auto nodes = v.first_of({"SLURM_STEP_NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
    if (nodes != "1") v.required("SLURM_STEP_TASKS_PER_NODE");
    topology.local_world = topology.world;
  }
  if (topology.local_world == 0) topology.local_world = topology.local_rank + 1;
  const auto hosts = slurm_hosts(v.first_of({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}));
  const auto job = v.number("SLURM_JOB_ID", kMostJobs);
  const auto step = v.has("SLURM_STEP_ID") ? v.number("SLURM_STEP_ID", kMostJobs) : 0;
  const auto port = 15000 + static_cast<int>((std::int64_t{job} * 7 + step) % 10000);
  set_meeting_point(topology, v, hosts.empty() ? "" : hosts[0], port);
  topology.run_id = fmt::format("{}.{}.{}", job, step, v.text("SLURM_RESTART_COUNT"));
  topology.gpus_of_rank = gpus_of_task(v.text("SLURM_GPUS_PER_TASK"));
  return checked(topology, v);
}

/// Names of the variables by which an MPI start-up says who we are.
struct Mpi {
  const char* launcher;
  const char* rank;
  const char* world;
  const char* local_rank;
  const char* local_world;
};

constexpr Mpi kJsrun{"LSF's jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE",
                     "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE"};
constexpr Mpi kOpenMpi{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                       "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Mpi kMvapich{"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
                       "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"};
constexpr Mpi kHydra{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
constexpr Mpi kPals{"PALS", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"};

/// The hosts of the job in which mpirun or jsrun was called, in the order of the ranks; none where
/// no scheduler says.
std::vector<std::string> hosts_of_job(const Variables& v) {
  for (const auto* name : {"LSB_DJOB_RANKFILE", "LSB_DJOB_HOSTFILE", "PBS_NODEFILE",
                           "COBALT_NODEFILE", "OAR_NODEFILE", "PE_HOSTFILE"}) {
    auto hosts = hosts_in_file(v.text(name));
    if (!hosts.empty()) return hosts;
  }
  const auto listed = v.first_of({"LSB_MCPU_HOSTS", "LSB_HOSTS"});
  return listed.empty() ? slurm_hosts(v.text("SLURM_JOB_NODELIST")) : hosts_in_list(listed);
}

/// What all processes that one mpirun started have in common; empty: nothing is known to be.
std::string name_of_job(const Variables& v, bool one_node) {
  if (v.has("PMIX_NAMESPACE")) return v.text("PMIX_NAMESPACE");
  // On one node all ranks have the same parent, the launcher's daemon.
  if (one_node) return std::to_string(::getppid());
  return v.first_of({"LSB_JOBID", "PBS_JOBID", "COBALT_JOBID", "OAR_JOB_ID", "SLURM_JOB_ID"});
}

Topology from_mpi(const Mpi& names, const Variables& v) {
  Topology topology;
  topology.rank = v.number(names.rank);
  topology.world = v.number(names.world);
  topology.local_rank = v.number(names.local_rank);
  auto hosts = hosts_of_job(v);
  // jsrun is called on a launch node of its own, the first of the list.
  const bool by_jsrun = &names == &kJsrun;
  if (by_jsrun && hosts.size() > 1) hosts.erase(hosts.begin());
  if (by_jsrun && !v.has(names.local_world)) {  // older ones do not say
    const auto nodes = std::max<int>(1, static_cast<int>(hosts.size()));
    topology.local_world = std::max(topology.local_rank + 1, topology.world / nodes);
  } else {
    topology.local_world = v.number(names.local_world);
  }
  const bool one_node = is_on_one_node(topology);
  const auto job = name_of_job(v, one_node);
  set_meeting_point(topology, v, hosts.empty() ? "" : hosts[0], port_of(job));
  if (job.empty()) v.required("MASTER_PORT");
  topology.run_id = one_node ? job : "";
  return checked(topology, v);
}

}  // namespace

std::optional<Topology> topology_of_launcher(const Environment& environment) {
  const Variables v(environment, "torchrun");
  const auto mpi = [&](const Mpi& names) {
    return from_mpi(names, Variables(environment, names.launcher));
  };
  const auto sets = [&](const Mpi& names) { return v.has(names.rank) || v.has(names.world); };
  const bool kubeflow = v.has("PET_NNODES") || v.has("PET_NODE_RANK");
  // The children of torchrun inherit its options: their rank is what counts.
  if (v.has("LOCAL_RANK") || (!kubeflow && (v.has("RANK") || v.has("WORLD_SIZE"))))
    return from_torchrun(v);
  if (kubeflow) return from_kubeflow(Variables(environment, "Kubeflow"));
  // Before Slurm: where mpirun uses srun for its daemons, their step is not that of the ranks.
  for (const auto* names : {&kJsrun, &kOpenMpi, &kMvapich})
    if (sets(*names)) return mpi(*names);
  if (sets(kHydra) && v.has(kHydra.local_rank)) return mpi(kHydra);
  if (is_started_by_srun(v)) return from_slurm(Variables(environment, "Slurm"));
  if (sets(kPals)) return mpi(v.has(kPals.local_rank) ? kPals : kHydra);
  if (v.has("SKYPILOT_NODE_RANK") || v.has("SKYPILOT_NUM_NODES"))
    return from_skypilot(Variables(environment, "SkyPilot"));
  return {};
}

Topology topology_from(const Environment& environment) {
  if (asks_for_single_node(environment)) return {};
  if (const auto found = topology_of_launcher(environment)) return *found;
  refuse_several_nodes(environment);
  return {};
}

Topology topology_from_environment() {
  return topology_from([](const char* name) -> const char* { return std::getenv(name); });
}

Topology rank_on_node(const Topology& node, int local_rank, int local_world) {
  auto topology = node;
  topology.is_node = false;
  topology.rank = node.rank * local_world + local_rank;
  topology.world = node.world * local_world;
  topology.local_rank = local_rank;
  topology.local_world = local_world;
  return topology;
}

}  // namespace ddptrain
