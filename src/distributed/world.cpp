#include "distributed/world.h"

#include <c10/util/Logging.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "distributed/store.h"
#include "distributed/torch_compat.h"

namespace ddptrain {
namespace {

std::unique_ptr<Group> gloo_group(const Store& store, BackendOptions options, const char* name) {
  options.name = name;
  return make_backend_group(make_gloo(store, options), options);
}

std::unique_ptr<Group> device_group(const Store& store, BackendOptions options, const char* name,
                                    const JoinOptions& join) {
  if (join.accelerator == nullptr) return gloo_group(store, options, name);
  options.name = name;
  options.waits_for_peers = true;
  options.timeout *= 2;  // the control group's clock and World::step_limit come first: their
                         // errors are ours
  return make_backend_group(join.accelerator->process_group(store, options, join.device), options);
}

/// c10d logs a stack of calls for each peer that it cannot reach, of which our errors say who it
/// was. NCCL's back end logs more than that.
void silence_c10d() {
  if (!std::getenv("TORCH_CPP_LOG_LEVEL"))
    FLAGS_caffe2_log_level = static_cast<int>(c10::GLOG_FATAL);
}

World connect(const Topology& topology, const JoinOptions& options) {
  if (options.accelerator == nullptr) silence_c10d();
  const auto store = rendezvous(topology, options.start);
  BackendOptions backend;
  backend.rank = topology.rank;
  backend.size = topology.world;
  backend.loopback = topology.local_world == topology.world;
  if (!backend.loopback) backend.address = agree_on_address(store, topology);
  backend.start = options.start;
  backend.timeout = options.supervised ? std::chrono::hours(24 * 365) : options.step;
  World world;
  if (!topology.address.empty()) world.board = make_failure_board(store, topology);
  if (world.board) backend.waits = world.board->waits();
  world.rank = topology.rank;
  world.local_rank = topology.local_rank;
  world.size = topology.world;
  world.control = gloo_group(store, backend, "control");
  world.gradients = device_group(store, backend, "gradients", options);
  if (options.statistics) world.statistics = device_group(store, backend, "statistics", options);
  if (!options.supervised) world.step_limit = options.step;
  return world;
}

}  // namespace

World join(const Topology& topology, const JoinOptions& options) {
  if (topology.world == 1 && !options.connects_alone) return single_world();
  try {
    return connect(topology, options);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string what = error.what();
    throw Error(Exit::device, fmt::format("rank {} could not connect to the other ranks: {}",
                                          topology.rank, what.substr(0, what.find('\n'))));
  }
}

World single_world() {
  World world;
  world.control = make_single_group();
  world.gradients = make_single_group();
  world.statistics = make_single_group();
  return world;
}

std::vector<World> make_thread_worlds(int size) {
  auto control = make_thread_groups(size);
  auto gradients = make_thread_groups(size);
  auto statistics = make_thread_groups(size);
  std::vector<World> worlds;
  for (int rank = 0; rank < size; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    worlds.push_back({rank, rank, size, std::move(control[i]), std::move(gradients[i]),
                      std::move(statistics[i])});
  }
  return worlds;
}

void agree(World& world, const std::string& what, const std::string& value) {
  const auto values = gather_text(*world.control, value);
  std::map<std::string, std::string> versions;
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    auto& ranks = versions[values[rank]];
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (versions.size() == 1) return;
  std::string message = "the ranks do not agree on " + what + ": ";
  const char* separator = "";
  for (const auto& [text, ranks] : versions) {
    message += separator + ("rank " + ranks + " has '") +
               (text.size() > 80 ? text.substr(0, 80) + "..." : text) + "'";
    separator = "; ";
  }
  throw Error(Exit::device, message + "; start every rank with the same files and options");
}

}  // namespace ddptrain
