// The checkpoints of a run on the disks of its nodes: which is the newest that they have together,
// and what each lacks of it from those that have it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace ddptrain {

struct World;

/// All ranks make it and call its functions together. A node is who sees one folder on one machine.
class LocalCheckpoints {
 public:
  /// `root`: the run's folder on each node. An Error (Exit::data) of all where one cannot make it.
  LocalCheckpoints(World& world, std::string root);

  const std::string& root() const { return root_; }
  /// Ranks of this node.
  std::int64_t ranks_here() const { return parts_; }
  /// The newest after `step` of which nodes have every file together. Each node then has all of its
  /// files, and each rank verifies a part of those of its node. What is newer and not used is
  /// logged with the reason; nothing where none is left.
  std::optional<Checkpoint> newest_after(std::int64_t step);
  /// Those of later steps are of no use where a run goes on from another checkpoint.
  void forget_after(std::int64_t step) const;
  /// A complete run needs none.
  void remove() const;

 private:
  bool is_first_here() const { return first_[node_] == rank_; }
  /// Why not; empty: every node has the whole checkpoint.
  std::string fill(const struct WholeLocal& whole);
  /// Of the ranks that wrote a checkpoint; 0 where the manifest is not on this node. Sets `failure`
  /// where it cannot be read.
  std::int64_t ranks_in_manifest(const std::string& folder, std::string& failure) const;
  /// From node to node; sets `failure`, where that is empty, on the node that receives.
  void copy_file(const std::string& path, std::size_t from, std::size_t to,
                 std::string& failure) const;
  void send_file(const std::string& path, std::size_t to_node) const;
  std::string receive_file(const std::string& path, std::size_t from_node) const;

  World& world_;
  std::string root_;
  std::size_t rank_, node_ = 0;
  std::vector<std::size_t> first_;     // rank of each node
  std::int64_t part_ = 0, parts_ = 0;  // of this rank among those of its node
};

}  // namespace ddptrain
