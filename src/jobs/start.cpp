#include "jobs/start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>

#include "base/files/scratch_folder.h"
#include "base/output/print.h"
#include "base/output/progress.h"
#include "base/output/shared_log.h"
#include "launch/failure.h"
#include "launch/heartbeat.h"
#include "launch/launcher.h"
#include "recipe/layers/address.h"
#include "train/device_memory.h"

namespace ddptrain {
namespace {

std::string log_file(const std::string& folder, int rank) {
  if (folder.empty()) return {};
  return folder + (rank == 0 ? "/log.txt" : fmt::format("/log.rank{}.txt", rank));
}

Hooks signal_hooks(Signals& signals) {
  Hooks hooks;
  hooks.stop_requested = [&signals] { return signals.stop_requested(); };
  hooks.save_requested = [&signals] { return signals.save_requested(); };
  return hooks;
}

/// Of all ranks of this node above 0: one for each rank would be thousands.
std::string log_of_node(const std::string& folder) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::string name = host;
  for (auto& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '-') letter = '_';
  return fmt::format("{}/log.{}.txt", folder, name);
}

bool is_on_several_nodes(const Topology& topology) { return topology.local_world < topology.world; }

/// Of a rank that learns the folder from rank 0. Empty on a node without that disk.
std::string log_of_joined(const std::string& folder, const Topology& topology) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) return {};
  const bool shared =
      topology.rank > 0 && is_on_several_nodes(topology) && topology.local_world > 1;
  return shared ? log_of_node(folder) : log_file(folder, topology.rank);
}

/// "node 1 of 2: ranks 8 to 15, ..." where nodes have as many ranks each, else the ranks alone.
std::string node_in_words(const Topology& topology) {
  const int here = topology.local_world, first = topology.rank - topology.local_rank;
  const auto ranks = here == 1 ? fmt::format("rank {}", first)
                               : fmt::format("ranks {} to {}", first, first + here - 1);
  if (topology.world % here != 0) return ranks + fmt::format(" of {}", topology.world);
  return fmt::format("node {} of {}: {}", first / here, topology.world / here, ranks);
}

/// Other nodes than the first are silent until they fail.
void announce_node(const std::string& folder, const std::string& file, const Topology& topology) {
  if (topology.rank == 0 || topology.local_rank > 0 || !is_on_several_nodes(topology)) return;
  log::announce(node_in_words(topology) +
                (file.empty() ? fmt::format("; no log, for there is no '{}' on this node", folder)
                              : fmt::format("; the log is {}, and the first node's {}/log.txt",
                                            file, folder)));
}

void open_log_in(const std::string& folder, const Topology& topology, const StartOptions& options) {
  if (!options.folder.empty()) return;
  const auto file = log_of_joined(folder, topology);
  if (!file.empty()) {
    if (file == log_file(folder, topology.rank))
      log::open(options.level, topology.rank, file);
    else
      log::open_shared(options.level, topology.rank, file);
  }
  announce_node(folder, file, topology);
}

// The rank that this process is, with its record of a failure for its parent.
int run_here(const Topology& topology, const RankMain& rank_main, const StartOptions& options) {
  log::open(options.level, topology.rank, log_file(options.folder, topology.rank));
  Signals signals(options.usr1);
  report_what_no_one_catches(topology);
  Heartbeats beats(1);  // which the ranks of the other processes see
  auto hooks = signal_hooks(signals);
  hooks.beat = [&](std::int64_t step, const char* phase) { beats.beat(0, step, phase); };
  if (options.makes_logs)
    hooks.in_folder = [&](const std::string& folder) { open_log_in(folder, topology, options); };
  auto here = topology;
  here.beats = &beats;
  try {
    return delivered(rank_main(here, hooks));  // while SIGPIPE is ignored
  } catch (const Error&) {
    report_failure(topology, failure_of(std::current_exception(), topology.rank));
    throw;
  } catch (...) {
    const auto failure = failure_of(std::current_exception(), topology.rank);
    report_failure(topology, failure);
    if (failure.code == Exit::memory)  // LibTorch's own exception is none of a bug
      throw Error(Exit::memory, kOutOfMachineMemory);
    if (failure.code == Exit::bug) throw;
    throw Error(failure.code, failure.message);
  }
}

// The ranks of this node, of several. One that hangs is found by the others, wherever they are:
// all wait for it alike, and only they can tell who does not.
int run_node(const Topology& node, int ranks, const RankMain& rank_main,
             const StartOptions& options) {
  if (ranks == 1 && !options.restarts)
    return run_here(rank_on_node(node, 0, 1), rank_main, options);
  LaunchOptions launch_options;
  launch_options.node = &node;
  launch_options.usr1 = options.usr1;
  const auto one_rank = [&](const Topology& topology) {
    return run_here(topology, rank_main, options);
  };
  log::open(options.level, node.rank, "");  // for the headline of a failure
  return launch(ranks, one_rank, launch_options);
}

LaunchOptions launch_options_of(const TimeoutSpec& timeout, const StartOptions& options,
                                Heartbeats& heartbeats) {
  LaunchOptions launch;
  launch.heartbeats = &heartbeats;
  launch.start_seconds = timeout.start.count;
  launch.step_seconds = timeout.step.count;
  launch.usr1 = options.usr1;
  launch.log_file = [&options](int rank) { return log_file(options.folder, rank); };
  return launch;
}

}  // namespace

int start_ranks(const Recipe& recipe, const Placement& placement, const Topology& outer,
                const RankMain& unplaced, const StartOptions& options) {
  const RankMain rank_main = [&](const Topology& topology, const Hooks& hooks) {
    if (options.tree == nullptr) return unplaced(topology, hooks);
    int code = 0;
    with_places(*options.tree, [&] { code = unplaced(topology, hooks); });
    return code;
  };
  remove_abandoned_folders();  // of launchers that were killed; one rank has none itself
  if (outer.is_node) return run_node(outer, placement.ranks / outer.world, rank_main, options);
  if (outer.joined() || placement.ranks == 1) return run_here(outer, rank_main, options);
  Heartbeats heartbeats(placement.ranks);
  const auto launched = launch_options_of(recipe.parallel.timeout, options, heartbeats);
  const auto one_rank = [&](const Topology& topology) {
    log::open(options.level, topology.rank, log_file(options.folder, topology.rank));
    Signals signals(options.usr1);
    auto hooks = signal_hooks(signals);
    hooks.beat = [&](std::int64_t step, const char* phase) {
      heartbeats.beat(topology.rank, step, phase);
    };
    // While data are prepared: the step stays what it is.
    const ProgressListener progress([&] {
      heartbeats.beat(topology.rank, heartbeats.last(topology.rank).step, "preparing data");
    });
    return delivered(rank_main(topology, hooks));
  };
  log::open(options.level, 0, log_file(options.folder, 0));  // for the headline of a failure
  return launch(placement.ranks, one_rank, launched);
}

}  // namespace ddptrain
