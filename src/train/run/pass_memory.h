// What the passes of a micro-batch hold in memory: measured with few rows, computed for many.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "distributed/step_totals.h"
#include "train/profile/memory_reports.h"

namespace ddptrain {

struct Batch;
struct Training;

/// Bytes of tensors of this thread while it lives, beyond what they held before.
class HeldBytes {
 public:
  std::int64_t now() const { return now_; }
  std::int64_t most() const { return most_; }

 private:
  std::int64_t now_ = 0, most_ = 0;
  MemoryReports reports_{[this](const MemoryReport& report) {
    now_ += report.bytes;
    most_ = std::max(most_, now_);
  }};
};

/// Whether a backward pass makes the gradients, or adds to those that are there: of an earlier
/// micro-batch, or in buckets.
enum class Gradients { made, added };

/// A forward and a backward pass, as it was measured on the CPU. Bytes are those of tensors.
struct MeasuredPass {
  std::int64_t rows = 0;
  std::int64_t places = 0;  // whose scores the loss computes (Model::projection); else 0
  std::int64_t before = 0;  // gradients that were there
  std::int64_t kept = 0;    // by the forward pass, as the loss begins
  /// Held after each allocation and release, with `before`: in the forward pass, the loss and the
  /// backward pass.
  std::array<std::vector<std::int64_t>, 3> held;
  StepTotals totals;
};

/// One micro-batch of a step, on an engine of one replica on the CPU.
MeasuredPass measure_pass(Training& training, const Batch& batch, Gradients gradients);

struct PassBytes {
  std::int64_t most = 0;         // at once, with gradients
  std::int64_t activations = 0;  // that the forward pass keeps for the backward pass
  std::int64_t logits = 0;       // of a model with a projection: while its loss is computed
};

/// Of `rows` rows that are like the measured ones. Each moment of a pass is a line through the two
/// measurements, and the most is that of all moments. A loss that computes its scores in chunks has
/// no such moments, and is measured by itself: with up to two chunks, as a line beyond.
PassBytes bytes_of_pass(const Training& training, const MeasuredPass& few, const MeasuredPass& many,
                        std::int64_t rows);

}  // namespace ddptrain
