// Steps that their device may refuse: their changes are undone there, without a synchronization.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ddptrain {

/// to <- from, where `flag` (one float of their device) is not 1. Tensors of one floating-point
/// type and device; those of a pair lie alike in memory. An infinity in `from` may become NaN
/// there.
void copy_unless(const at::Tensor& flag, const std::vector<at::Tensor>& to,
                 const std::vector<at::Tensor>& from);

/// Tensors of one type and device, and what they were when it was made.
class Snapshot {
 public:
  explicit Snapshot(std::vector<at::Tensor> live);
  /// They are what they were where `made` (one float of their device) is 0, bit for bit; where it
  /// is 1 they stay.
  void restore_unless(const at::Tensor& made) const { copy_unless(made, live_, kept_); }

 private:
  std::vector<at::Tensor> live_, kept_;
};

}  // namespace ddptrain
