// How a graph of the device repeats an engine's passes.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace ddptrain {

/// What the passes of a window leave behind for sum(): tensors of the device, and what the host
/// knows of them.
struct PassResults {
  std::vector<at::Tensor> gradients;  // of the parameters, in their order; undefined: it has none
  at::Tensor sums;                    // Replica::sums()
  std::vector<bool> used;             // ddp: which of those that train received a gradient
};

/// The side of an Engine that graphs use. A graph captures begin(), accumulate() of one micro-batch
/// and sum(), and replays what they gave the device; these functions do what they did on the host.
class PassCapture {
 public:
  /// Why the passes cannot be captured; empty: they can.
  virtual std::string obstacle() const = 0;
  /// What the passes left behind. To be captured with them: it ends what is still under way.
  virtual PassResults results() = 0;
  /// After a replay of the passes: all is as the captured ones left it. The batch had all rows.
  virtual void restore(const PassResults& results) = 0;
  /// Before a replay of sum(): copies the numbers that the host adds in it to the device, where
  /// they have changed.
  virtual void upload(bool asked) = 0;

 protected:
  ~PassCapture() = default;
};

/// Of an engine whose passes cannot be captured.
class NoPassCapture final : public PassCapture {
 public:
  explicit NoPassCapture(std::string why) : why_(std::move(why)) {}
  std::string obstacle() const override { return why_; }
  PassResults results() override { return never(); }
  void restore(const PassResults&) override { never(); }
  void upload(bool) override { never(); }

 private:
  static PassResults never() {
    DDP_CHECK(false, "these passes are not captured");
    return {};
  }
  std::string why_;
};

}  // namespace ddptrain
