// Models that are built before there is memory for their weights (torchdistX's deferred_init).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace ddptrain {

/// While one lives, the functions of models/layers/initialize.h on this thread note what they would
/// write. What they would write it to is memory that was asked for and never touched, which takes
/// none. materialize() writes it, tensor by tensor, and draws as it would have been drawn.
class DeferredInit {
 public:
  DeferredInit();
  ~DeferredInit();
  DeferredInit(const DeferredInit&) = delete;
  DeferredInit& operator=(const DeferredInit&) = delete;

  /// Ends the notes and makes the values. `ready(place, tensor)` is called once for each of
  /// `tensors`, which are dense and on the CPU, as soon as nothing is left to be written to its
  /// memory, and may keep what it needs: that memory is given back when `ready` returns, if only
  /// this object and `tensors` had it. Tensors with the same memory are ready together. At any time
  /// only tensors that are written in several pieces, and the one at hand, are in memory.
  void materialize(std::vector<at::Tensor> tensors,
                   const std::function<void(std::size_t place, const at::Tensor&)>& ready);

  /// Writes all of `tensor`, which `body` does not read: at once, or later.
  static void fill(const at::Tensor& tensor, std::function<void(const at::Tensor&)> body);
  /// The same of a body that reads what is there.
  static void change(const at::Tensor& tensor, std::function<void(const at::Tensor&)> body);

 private:
  struct Write {
    at::Tensor tensor;
    std::function<void(const at::Tensor&)> body;
    bool reads = false;
  };
  static void write(Write write);
  void make(std::size_t number, bool is_lost);

  std::vector<Write> writes_;
  DeferredInit* outer_;
};

}  // namespace ddptrain
