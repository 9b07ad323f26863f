// Collectives of ranks that share memory.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "distributed/group.h"

namespace ddptrain {

class RankArena;

/// Groups of one purpose have none of their ranks in common.
enum class GroupPurpose { control, gradients, statistics, shards, replicas };

struct ArenaGroupOptions {
  GroupPurpose purpose = GroupPurpose::control;
  std::string name;        // in messages
  std::vector<int> ranks;  // of the arena, in the order of members
  int member = 0;          // this process is ranks[member]
  std::chrono::milliseconds timeout{300'000};
};

/// A group over tensors of the CPU. Sums are made in the order of members, in the tensors' type,
/// rounded after each addition: the same bits on every member, whatever their number's place in a
/// tensor. An operation works while it is waited for, those that began before it first.
std::unique_ptr<Group> make_arena_group(std::shared_ptr<RankArena> arena,
                                        const ArenaGroupOptions& options);

}  // namespace ddptrain
