// Arguments of a forward pass other than its input.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/stack.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ddptrain {

/// Who shares batch statistics under sync_bn; distributed/group.h implements it.
class Statistics {
 public:
  virtual ~Statistics() = default;
  /// Tensors of the same shape from every member, in rank order.
  virtual std::vector<at::Tensor> all_gather(const at::Tensor& tensor) = 0;
  /// The same as one tensor, [members, ...].
  virtual at::Tensor all_gather_stacked(const at::Tensor& tensor) {
    return at::stack(all_gather(tensor));
  }
  /// In place, summed over members.
  virtual void all_reduce(at::Tensor& tensor) = 0;
};

/// Penalties that a model adds to the loss, one number per row, on activations for example.
/// Training minimizes their mean over rows, each row weighted as in the loss.
class Penalty {
 public:
  /// `rows` has the shape [rows], in the graph.
  void add(const at::Tensor& rows) { sum_ = sum_.defined() ? sum_.add(rows) : rows; }
  /// Of all that was added; undefined where nothing was.
  const at::Tensor& sum() const { return sum_; }

 private:
  at::Tensor sum_;
};

/// Outputs in addition to a model's own, of layers on the way, from which training learns too: the
/// loss of each with the same targets, times its weight, is added to that of the output.
class AuxiliaryOutputs {
 public:
  struct Weighted {
    at::Tensor output;
    double weight = 1;
  };
  void add(at::Tensor output, double weight) { all_.push_back({std::move(output), weight}); }
  const std::vector<Weighted>& all() const { return all_; }

 private:
  std::vector<Weighted> all_;
};

class Blocks;
class Carried;

/// Randomness in a model is a function of (seed, step, module path, row in the global batch), so it
/// does not depend on how the batch is sharded. `statistics` is the group over which sync_bn sums
/// batch statistics: null means each replica alone (plain batch norm). `penalty` collects; null
/// where unused, and so does `auxiliary`.
struct Pass {
  bool training = false;
  std::uint64_t seed = 0;
  std::int64_t step = 0;       // optimizer step, from 0
  std::int64_t first_row = 0;  // row of the global batch that this input's row 0 is
  Statistics* statistics = nullptr;
  Penalty* penalty = nullptr;
  std::span<const std::int64_t> positions = {};  // of each row there; empty: first_row and on
  /// `step` as an int64 on the device, which a graph reads at each replay; undefined where
  /// nothing is captured.
  at::Tensor step_there = {};
  AuxiliaryOutputs* auxiliary = nullptr;
  Carried* carried = nullptr;  // models/carried.h; null: every row begins without a state
  bool recompute = false;      // blocks keep their inputs alone (models/recompute.h)
  bool repeated = false;       // a block is computed again: what is counted was counted already
  /// Puts this thread into the numerics of the pass (autocast) while the result lives, where a
  /// block is computed again after the pass. Empty: there are none.
  std::function<std::shared_ptr<void>()> numerics = {};
  Blocks* blocks = nullptr;  // models/blocks.h; null: blocks are parts as others
};

}  // namespace ddptrain
