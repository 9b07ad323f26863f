// What ranks agree on, so that all capture a step or none does, and all replay it or none.
#pragma once

#include <cstdint>
#include <optional>

#include "train/graph/graph_shapes.h"

namespace ddptrain {

struct World;

/// A step of all ranks. Other shapes on a rank make another one here, but for one case in 2^80.
struct JointStep {
  std::optional<GraphShapes::Shape> shape;  // none: on one of them it cannot be captured
  bool is_of_another_model = false;         // than the step before, on one of them
};

/// Ranks whose graphs hold collectives: "whether an operation launch is graph-captured ... must be
/// uniform over all ranks", and so must be which graph is launched (NCCL's "Using NCCL with CUDA
/// Graphs"). Collectives on the host, which all ranks call together.
class GraphRanks {
 public:
  /// It outlives this.
  explicit GraphRanks(const World& world) : world_(world) {}

  /// Whether it is so on any rank.
  bool any(bool here) const;
  /// What a step is on all ranks, by what it is here: `shape` is none where it cannot be captured.
  JointStep joint(const std::optional<GraphShapes::Shape>& shape, bool is_of_another_model) const;

 private:
  const World& world_;
};

}  // namespace ddptrain
