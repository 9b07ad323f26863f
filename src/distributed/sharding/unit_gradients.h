// Gradients of units: in a buffer while backward makes them, then this rank's slice of their sum.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "distributed/sharding/unit.h"

namespace ddptrain {

/// Of the parameters of one unit that train.
class UnitGradients {
 public:
  /// `flat` is of the list, with cuts; it has members. Hooks on the parameters copy what backward
  /// gives them into the buffer, which is of `type`.
  UnitGradients(const std::vector<NamedTensor>& parameters, Flat flat, at::ScalarType type,
                Group& group);
  ~UnitGradients();
  UnitGradients(const UnitGradients&) = delete;
  UnitGradients& operator=(const UnitGradients&) = delete;

  const Flat& flat() const { return flat_; }
  /// A window begins.
  void begin();
  /// A backward pass begins, whose gradients go to `buffer`, [elements].
  void take(const at::Tensor& buffer);
  bool is_taking() const { return buffer_.defined(); }
  /// It has ended: the buffer's sums over ranks are on their way.
  void reduce();
  bool is_reducing() const { return pending_ != nullptr; }
  /// Waits for them and adds them to the window's; the buffer is free again.
  void add_up();
  /// Waits for them, too, and drops what the buffer has, which is free again.
  void forget();
  /// Which members received a gradient on this rank in the window.
  const std::vector<bool>& used() const { return used_; }
  /// This rank's slice of the window's sums.
  at::Tensor& sums() { return sums_; }
  const at::Tensor& sums() const { return sums_; }

 private:
  struct Hook;
  void arrived(std::size_t member);

  std::vector<at::Tensor> parameters_;
  Flat flat_;
  Group& group_;
  at::Tensor buffer_;  // undefined outside of backward passes and reductions
  std::vector<at::Tensor> views_;
  std::vector<bool> used_, filled_;  // in the window, in the pass
  std::unique_ptr<Pending> pending_;
  at::Tensor sums_;
  bool has_sums_ = false;
};

}  // namespace ddptrain
