// Memory that the ranks of a node share, whatever started them: each leaves there where it is, and
// one of them publishes that for all. Ranks of several containers of a machine are several nodes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distributed/control/rank_status.h"

namespace c10d {
class Store;
}

namespace ddptrain {

/// What processes of this node have in common: a start of its kernel, the numbers by which it shows
/// processes, and their network.
std::string name_of_node();

/// One rank's view of the table of its node. Methods may be called by any thread.
class NodeTable {
 public:
  /// Finds the others by the store, in which node() is the number of the node, from 0. Where the
  /// system shows this process no memory of theirs, it is a node of its own. At most `world` ranks.
  NodeTable(c10d::Store& store, int rank, int world, const std::string& node = name_of_node());
  ~NodeTable();
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  int node() const { return node_; }
  /// Where this rank is. Its `rank` and `count` are filled in.
  void write(RankStatus status);
  std::vector<RankStatus> statuses() const;
  /// Whether this rank is to publish: no rank before it in the table has written lately.
  bool publishes() const;
  /// The same of looking for a cause, among those that lost a peer.
  bool looks() const;
  /// This rank writes nothing more.
  void leave();

  /// What the rank that publishes has learnt, for the others.
  void write_server(const RankStatus& status);
  RankStatus server() const;
  void write_cause(const Failure& failure);
  std::optional<Failure> cause() const;

 private:
  struct Slot;
  struct Table;
  struct Mapping;

  /// The table of the rank that came first to the node, made or opened.
  void open(c10d::Store& store, int world, const std::string& node);
  void take_slot(int rank);
  Slot& slot(int index) const;
  template <class Condition>
  bool is_first(Condition condition) const;
  Slot& own() const { return slot(index_); }

  std::unique_ptr<Mapping> mapping_;
  Table* table_ = nullptr;
  int node_ = 0;
  int index_ = 0;  // of this rank's slot
};

}  // namespace ddptrain
