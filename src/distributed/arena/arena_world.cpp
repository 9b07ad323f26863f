#include "distributed/arena/arena_world.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "distributed/arena/arena_group.h"
#include "distributed/control/meeting.h"
#include "distributed/lost_peer.h"
#include "launch/arena/rank_arena.h"

namespace ddptrain {
namespace {

constexpr int kStart = static_cast<int>(GroupPurpose::replicas) + 1;
static_assert(kStart + 1 == RankArena::kPurposes);

/// `count` ranks from `first` on, each `distance` behind the one before.
std::vector<int> ranks_from(int first, int count, int distance = 1) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(first + i * distance);
  return ranks;
}

void meet_in_arena(const Topology& topology, std::chrono::milliseconds limit) {
  ArenaSeat seat(topology.arena, kStart, ranks_from(0, topology.world), topology.rank);
  seat.arrive();
  switch (seat.meet(limit)) {
    case ArenaSeat::Met::all:
      return;
    case ArenaSeat::Met::lost_member:
      throw peer_has_ended(place_of_failure(topology.rank, "barrier", "control"));
    case ArenaSeat::Met::timed_out:
      refuse_missing(seat.missing(), topology.world, limit);
  }
}

/// Makes the groups of one rank.
class ArenaGroups {
 public:
  ArenaGroups(const Topology& topology, std::chrono::milliseconds timeout)
      : arena_(topology.arena), rank_(topology.rank), size_(topology.world), timeout_(timeout) {}

  std::unique_ptr<Group> of_all(GroupPurpose purpose, std::string name) const {
    return make_arena_group(arena_,
                            {purpose, std::move(name), ranks_from(0, size_), rank_, timeout_});
  }
  /// Ranks next to each other, `size` of them, have a model together.
  std::unique_ptr<Group> shards(int size) const {
    const int group = rank_ / size;
    return make_arena_group(arena_, {GroupPurpose::shards, fmt::format("shards {}", group),
                                     ranks_from(group * size, size), rank_ % size, timeout_});
  }
  std::unique_ptr<Group> replicas(int size) const {
    const int part = rank_ % size;
    return make_arena_group(arena_, {GroupPurpose::replicas, fmt::format("replicas {}", part),
                                     ranks_from(part, size_ / size, size), rank_ / size, timeout_});
  }

 private:
  std::shared_ptr<RankArena> arena_;
  int rank_, size_;
  std::chrono::milliseconds timeout_;
};

}  // namespace

bool has_arena(const Topology& topology, const JoinOptions& options) {
  return topology.arena && topology.arena->ranks() == topology.world &&
         options.accelerator == nullptr;
}

World connect_in_arena(const Topology& topology, const JoinOptions& options) {
  meet_in_arena(topology, options.start);
  const ArenaGroups groups(topology, collective_timeout(options));
  World world;
  world.rank = topology.rank;
  world.local_rank = topology.local_rank;
  world.size = topology.world;
  if (!options.supervised) world.step_limit = options.step;
  world.control = groups.of_all(GroupPurpose::control, "control");
  world.gradients = groups.of_all(GroupPurpose::gradients, "gradients");
  if (options.statistics) world.statistics = groups.of_all(GroupPurpose::statistics, "statistics");
  const int size = options.shard_group > 0 ? options.shard_group : world.size;
  require_whole_groups(world.size, size);
  if (size < world.size) {
    world.shard_group = groups.shards(size);
    world.replica_group = groups.replicas(size);
  }
  return world;
}

}  // namespace ddptrain
