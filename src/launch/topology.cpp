#include "launch/topology.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// Variables of one launcher, read strictly.
class Variables {
 public:
  Variables(const Environment& environment, std::string launcher)
      : environment_(environment), launcher_(std::move(launcher)) {}

  bool has(const char* name) const { return !text(name).empty(); }

  std::string text(const char* name) const {
    const char* value = environment_(name);
    return value ? value : "";
  }

  std::string required(const char* name) const {
    if (!has(name))
      throw Error(Exit::recipe, "the environment looks like " + launcher_ + ", but " + name +
                                    " is not set: start through " + launcher_ +
                                    ", or unset its variables");
    return text(name);
  }

  int number(const char* name) const {
    const auto value = parse_integer(required(name));
    if (!value || *value < 0 || *value > 1'000'000)
      throw Error(Exit::recipe, std::string(name) + " is '" + text(name) +
                                    "' in the environment, a whole number was expected");
    return static_cast<int>(*value);
  }

  int number_or(const char* name, int otherwise) const {
    return has(name) ? number(name) : otherwise;
  }

  const std::string& launcher() const { return launcher_; }

 private:
  const Environment& environment_;
  std::string launcher_;
};

// What only a wrong environment can violate.
Topology checked(Topology topology, const Variables& variables) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Exit::recipe,
                "the environment of " + variables.launcher() + " contradicts itself: " + what);
  };
  const auto outside = [&](const char* what, int rank, const char* size, int world) {
    if (rank >= world)
      refuse(std::string(what) + " is " + std::to_string(rank) + " and " + size + " is " +
             std::to_string(world));
  };
  outside("the rank", topology.rank, "the world size", topology.world);
  outside("the local rank", topology.local_rank, "the local world size", topology.local_world);
  if (topology.local_world > topology.world)
    refuse("the local world size is larger than the world size");
  if (topology.port < 1 || topology.port > 65535)
    refuse("port " + std::to_string(topology.port) + " is not in 1 .. 65535");
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

// Where the ranks meet: MASTER_ADDR and MASTER_PORT where somebody set them, else `host` and a port
// that follows from the job, so that all ranks find the same one.
void set_meeting_point(Topology& topology, const Variables& v, const std::string& host, int port) {
  const bool one_node = topology.local_world == topology.world;
  topology.address = v.has("MASTER_ADDR") ? v.text("MASTER_ADDR") : one_node ? "127.0.0.1" : host;
  if (topology.address.empty()) v.required("MASTER_ADDR");
  topology.port = v.number_or("MASTER_PORT", port);
}

Topology from_slurm(const Variables& v) {
  Topology topology;
  topology.rank = v.number("SLURM_PROCID");
  topology.world =
      v.has("SLURM_STEP_NUM_TASKS") ? v.number("SLURM_STEP_NUM_TASKS") : v.number("SLURM_NTASKS");
  topology.local_rank = v.number("SLURM_LOCALID");
  const auto tasks = v.has("SLURM_STEP_TASKS_PER_NODE") ? v.text("SLURM_STEP_TASKS_PER_NODE")
                                                        : v.text("SLURM_TASKS_PER_NODE");
  topology.local_world = tasks_on_node(tasks, v.number_or("SLURM_NODEID", 0));
  if (topology.local_world == 0) topology.local_world = topology.local_rank + 1;
  const auto nodes =
      v.has("SLURM_STEP_NODELIST") ? v.text("SLURM_STEP_NODELIST") : v.text("SLURM_JOB_NODELIST");
  const auto job = v.number("SLURM_JOB_ID");
  const auto step = v.number_or("SLURM_STEP_ID", 0);
  set_meeting_point(topology, v, first_host(nodes), 15000 + (job * 7 + step) % 10000);
  topology.run_id =
      std::to_string(job) + "." + std::to_string(step) + "." + v.text("SLURM_RESTART_COUNT");
  return checked(topology, v);
}

/// Names of the variables by which an MPI start-up says who we are.
struct Mpi {
  const char* launcher;
  const char* rank;
  const char* world;
  const char* local_rank;
  const char* local_world;
  const char* job;
};

constexpr Mpi mpis[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE", "PMI_ID"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_FD"},
};

Topology from_mpi(const Mpi& names, const Variables& v) {
  Topology topology;
  topology.rank = v.number(names.rank);
  topology.world = v.number(names.world);
  topology.local_rank = v.number(names.local_rank);
  topology.local_world = v.number(names.local_world);
  // On one node all ranks have the same parent, the launcher's daemon.
  const auto job = v.has(names.job) && std::string_view(names.job) == "PMIX_NAMESPACE"
                       ? v.text(names.job)
                       : std::to_string(::getppid());
  set_meeting_point(topology, v, "", 15000 + static_cast<int>(hash_text(job) % 10000));
  topology.run_id = topology.local_world == topology.world ? job : "";
  return checked(topology, v);
}

}  // namespace

Topology topology_from(const Environment& environment) {
  const Variables torchrun(environment, "torchrun");
  for (const auto* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK"})
    if (torchrun.has(name)) return from_torchrun(torchrun);
  // Only srun sets a step: the script of sbatch has the job's numbers, but is one process.
  const Variables slurm(environment, "Slurm");
  if (slurm.has("SLURM_STEP_ID") && slurm.has("SLURM_PROCID")) return from_slurm(slurm);
  for (const auto& names : mpis) {
    const Variables mpi(environment, names.launcher);
    if (mpi.has(names.rank) || mpi.has(names.world)) return from_mpi(names, mpi);
  }
  return {};
}

Topology topology_from_environment() {
  return topology_from([](const char* name) -> const char* { return std::getenv(name); });
}

std::string first_host(const std::string& nodes) {
  const auto end = nodes.find_first_of(",[");
  auto stem = nodes.substr(0, end);
  if (end == std::string::npos || nodes[end] == ',') return stem;
  const auto last = nodes.find_first_of(",-]", end);
  return stem + nodes.substr(end + 1, last == std::string::npos ? last : last - end - 1);
}

int tasks_on_node(const std::string& tasks_per_node, int node) {
  for (const auto& part : split(tasks_per_node, ',')) {
    const auto times = part.find("(x");
    const auto tasks = parse_integer(part.substr(0, times));
    if (!tasks) return 0;
    std::optional<std::int64_t> nodes = 1;
    if (times != std::string::npos)
      nodes = parse_integer(part.substr(times + 2, part.size() - times - 3));
    if (!nodes) return 0;
    if (node < *nodes) return static_cast<int>(*tasks);
    node -= static_cast<int>(*nodes);
  }
  return 0;
}

}  // namespace ddptrain
