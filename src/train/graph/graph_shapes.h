// Which steps are worth a graph, by the shapes of their batches.
#pragma once

#include <cstdint>
#include <list>
#include <utility>
#include <vector>

namespace ddptrain {

/// Counts steps that have no graph. A shape that comes seldom costs a capture and the place of
/// another graph, so each graph that made room for one doubles how often a shape must have come.
class GraphShapes {
 public:
  using Shape = std::vector<std::int64_t>;
  static constexpr int kWarmUp = 3;            // steps in which libraries choose their kernels
  static constexpr std::size_t kCounted = 64;  // shapes, the most recent ones

  /// A step of this shape: how many there were, this one included.
  int count(const Shape& shape);
  /// So many steps of a shape are eager; the next one is captured.
  int patience() const { return patience_; }
  /// The graph of this shape has made room: it counts from 0, and patience doubles.
  void lose(const Shape& shape);
  /// The steps that follow are of another model.
  void clear() { recent_.clear(); }

 private:
  std::list<std::pair<Shape, int>> recent_;  // the last one first
  int patience_ = kWarmUp;
};

}  // namespace ddptrain
