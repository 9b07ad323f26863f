#include "distributed/world.h"

#include <ATen/ops/tensor.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "distributed/arena/arena_world.h"
#include "distributed/c10d.h"
#include "distributed/control/meeting.h"
#include "distributed/control/rank_list.h"
#include "distributed/control/store.h"
#include "distributed/control/versions.h"

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
  const CountedWait counted(options.waits);
  return make_backend_group(join.accelerator->process_group(store, options, join.device), options);
}

/// c10d logs a stack of calls for each peer that it cannot reach, of which our errors say who it
/// was. NCCL's back end logs more than that.
void silence_c10d() {
  if (!std::getenv("TORCH_CPP_LOG_LEVEL"))
    FLAGS_caffe2_log_level = static_cast<int>(c10::GLOG_FATAL);
}

/// Ranks next to each other, `size` of them, have a model together.
void connect_groups(const Store& store, BackendOptions backend, const JoinOptions& options,
                    int size, World& world) {
  const int part = world.rank % size, group = world.rank / size;
  require_whole_groups(world.size, size);
  backend.rank = part;
  backend.size = size;
  const auto shards = fmt::format("shards {}", group);
  world.shard_group = device_group(store, backend, shards.c_str(), options);
  backend.rank = group;
  backend.size = world.size / size;
  const auto replicas = fmt::format("replicas {}", part);
  world.replica_group = device_group(store, backend, replicas.c_str(), options);
}

/// Whether all nodes have as many ranks, next to each other. All ranks call it together.
bool has_even_nodes(const Topology& topology, Group& control) {
  const auto own = static_cast<double>(topology.local_world);
  const bool in_order = topology.rank % topology.local_world == topology.local_rank;
  auto sums = at::tensor({own, own * own, in_order ? 0.0 : 1.0}, at::kDouble);
  control.all_reduce(sums);
  const auto* all = sums.const_data_ptr<double>();
  const auto world = static_cast<double>(topology.world);
  return all[2] == 0 && all[0] == world * own && all[1] == world * own * own;
}

/// All ranks call it together.
[[noreturn]] void refuse_uneven_nodes(const Topology& topology, Group& control) {
  const auto counts = gather_text(control, std::to_string(topology.local_world));
  const auto other = std::ranges::find_if(
      counts, [&](const std::string& count) { return count != counts.front(); });
  const std::string needs = "'node' needs nodes with as many ranks each, next to each other";
  if (other == counts.end())
    throw Error(Exit::recipe, Option{"parallel.shard.group"},
                "{}; here ranks that follow each other are on different nodes", needs);
  throw Error(Exit::recipe, Option{"parallel.shard.group"},
              "{}; that of rank 0 has {}, that of rank {} has {}", needs, counts.front(),
              other - counts.begin(), *other);
}

/// Ranks of a group (JoinOptions). All ranks call it together.
int shard_group_size(const Topology& topology, const JoinOptions& options, Group& control) {
  if (options.shard_group == 0) return topology.world;
  if (options.shard_group != kRanksOfNode) return options.shard_group;
  if (!has_even_nodes(topology, control)) refuse_uneven_nodes(topology, control);
  return topology.local_world;
}

/// Sums over several nodes are those of nodes.
NodeGroups connect_nodes(const Store& store, BackendOptions backend, const JoinOptions& options,
                         const Topology& topology) {
  const int size = topology.local_world, node = topology.rank / size;
  NodeGroups groups;
  backend.rank = topology.local_rank;
  backend.size = size;
  groups.node = device_group(store, backend, fmt::format("node {}", node).c_str(), options);
  backend.rank = node;
  backend.size = topology.world / size;
  groups.across = device_group(
      store, backend, fmt::format("across nodes {}", topology.local_rank).c_str(), options);
  return groups;
}

void connect_all(const Store& store, const BackendOptions& backend, const JoinOptions& options,
                 const Topology& topology, World& world) {
  world.control = gloo_group(store, backend, "control");
  world.gradients = device_group(store, backend, "gradients", options);
  if (options.statistics) world.statistics = device_group(store, backend, "statistics", options);
  if (options.accelerator) world.saving = gloo_group(store, backend, "saving");
  if (const int size = shard_group_size(topology, options, *world.control); size < topology.world)
    connect_groups(store, backend, options, size, world);
  if (options.ordered_sums) {
    const bool nodes = topology.local_world < topology.world &&
                       has_even_nodes(topology, *world.control) && topology.local_world > 1;
    world.gradients =
        make_ordered_group(std::move(world.gradients),
                           nodes ? connect_nodes(store, backend, options, topology) : NodeGroups{});
    for (auto* group : {&world.shard_group, &world.replica_group})
      if (*group) *group = make_ordered_group(std::move(*group));
  }
}

/// Runs `body`; what LibTorch throws in it becomes an Error.
template <class Body>
auto in_our_words(const Topology& topology, Body body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string what = error.what();
    throw Error(Exit::device, "rank {} could not connect to the other ranks: {}", topology.rank,
                what.substr(0, what.find('\n')));
  }
}

World connect(const Topology& topology, const JoinOptions& options) {
  if (options.accelerator == nullptr) silence_c10d();
  const auto store = rendezvous(topology, options.start);
  BackendOptions backend;
  backend.rank = topology.rank;
  backend.size = topology.world;
  backend.loopback = topology.local_world == topology.world;
  if (!backend.loopback) backend.address = agree_on_address(*store, topology);
  backend.start = options.start;
  backend.timeout = collective_timeout(options);
  World world;
  world.rank = topology.rank;
  world.local_rank = topology.local_rank;
  world.size = topology.world;
  if (!topology.address.empty()) world.board = make_failure_board(store, topology);
  if (world.board) backend.waits = world.board->waits();
  if (!options.supervised) world.step_limit = options.step;
  try {
    in_our_words(topology, [&] { connect_all(store, backend, options, topology, world); });
  } catch (...) {
    if (world.board) rethrow_cause(world, std::current_exception());
    throw;
  }
  return world;
}

}  // namespace

World join(const Topology& topology, const JoinOptions& options) {
  if (topology.world == 1 && !options.connects_alone) return single_world();
  if (has_arena(topology, options)) return connect_in_arena(topology, options);
  return in_our_words(topology, [&] { return connect(topology, options); });
}

std::chrono::milliseconds collective_timeout(const JoinOptions& options) {
  return options.supervised ? std::chrono::hours(24 * 365) : options.step;
}

void require_whole_groups(int world, int size) {
  if (world % size != 0)
    throw Error(Exit::recipe, Option{"parallel.shard.group"},
                "{} ranks cannot be divided into groups of {}", world, size);
}

World single_world() {
  World world;
  world.control = make_single_group();
  world.gradients = make_single_group();
  world.statistics = make_single_group();
  return world;
}

std::vector<World> make_thread_worlds(int size, int shard_group) {
  auto control = make_thread_groups(size);
  auto gradients = make_thread_groups(size);
  auto statistics = make_thread_groups(size);
  auto saving = make_thread_groups(size);
  std::vector<World> worlds;
  for (int rank = 0; rank < size; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    worlds.push_back({rank, rank, size, std::move(control[i]), std::move(gradients[i]),
                      std::move(statistics[i])});
    worlds.back().saving = std::move(saving[i]);
  }
  if (shard_group == 0 || shard_group == size) return worlds;
  const auto of = [&](int rank) -> World& { return worlds[static_cast<std::size_t>(rank)]; };
  for (int first = 0; first < size; first += shard_group) {
    auto groups = make_thread_groups(shard_group);
    for (int part = 0; part < shard_group; ++part)
      of(first + part).shard_group = std::move(groups[static_cast<std::size_t>(part)]);
  }
  for (int part = 0; part < shard_group; ++part) {
    auto groups = make_thread_groups(size / shard_group);
    for (int group = 0; group * shard_group < size; ++group)
      of(group * shard_group + part).replica_group =
          std::move(groups[static_cast<std::size_t>(group)]);
  }
  return worlds;
}

void agree(World& world, const std::string& what, const std::string& value) {
  if (all_equal(*world.control, value)) return;
  std::string message = fmt::format("the ranks do not agree on {}: ", what);
  const char* separator = "";
  for (const auto& [text, ranks] : versions_of(*world.control, value)) {
    message += fmt::format("{}rank {} has '{}{}'", separator, rank_list(ranks), text.substr(0, 80),
                           text.size() > 80 ? "..." : "");
    separator = "; ";
  }
  throw Error(Exit::device, "{}; start every rank with the same files and options", message);
}

}  // namespace ddptrain
