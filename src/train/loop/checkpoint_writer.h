// Checkpoints to files: at once, or while training goes on.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "checkpoint/saving/save.h"

namespace ddptrain {

struct CheckpointParts;
class Group;

/// Where a checkpoint goes, and which checkpoints are kept next to it.
struct SavePlan {
  std::string root;
  std::int64_t keep_last = 2;
  std::optional<std::int64_t> best_step;  // of the best checkpoint, this one or an earlier
  SaveOptions options = {};
};

/// Writes one checkpoint at a time; the next one waits for it. Links and what is deleted follow
/// when its files are whole.
class CheckpointWriter {
 public:
  enum class When { at_once, in_background };

  /// `together`: those who write each checkpoint with this one; null: it writes alone. The
  /// group is for this alone, and outlives it.
  explicit CheckpointWriter(When when, Group* together = nullptr)
      : when_(when), together_(together) {}
  /// Waits. A failure that was not read yet is a warning: another error ends the run.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Takes the tensors as they are now. None may be under way.
  void write(const CheckpointParts& parts, const SavePlan& plan);
  /// The folder of a checkpoint that has become whole, once; throws what writing it threw.
  std::optional<std::string> written();
  /// The same when what is under way has ended.
  std::optional<std::string> wait();

 private:
  std::string save(const CheckpointParts& parts, const SavePlan& plan) const;

  When when_;
  Group* together_;
  std::future<std::string> under_way_;
};

}  // namespace ddptrain
