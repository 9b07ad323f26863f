// A step that a device replays: what it was captured from, and its graphs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "accelerator/graph.h"
#include "distributed/engine.h"
#include "train/graph/graph_shapes.h"
#include "train/graph/step_work.h"

namespace ddptrain {

/// All that a captured pass took from the host, addresses included: a tensor that was given other
/// memory is not where the graph looks.
struct StepSignature {
  GraphShapes::Shape batch;  // on several ranks GraphRanks::joint()
  std::vector<std::int64_t> model;
  std::optional<std::int64_t> optimizer;  // StepCapture::version() of a whole step
  bool operator==(const StepSignature&) const = default;
};

/// The graph of decide(), and the outcome that its replay leaves behind.
struct CapturedEnding {
  std::unique_ptr<DeviceGraph> graph;
  StepOutcome outcome;
};

/// The graphs of a step, with what they read and leave behind.
struct CapturedStep {
  StepSignature signature;
  Batch batch;  // whose tensors the graph reads
  std::unique_ptr<DeviceGraph> graph;
  PassResults results;        // that a replay leaves behind
  StepOutcome outcome;        // of a whole step
  CapturedEnding endings[2];  // [norm_is_wanted] of a split one
  std::int64_t bytes = 0;     // that the device's allocator keeps for its graphs
};

}  // namespace ddptrain
