// How the arithmetic of the forward pass is done.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace ddptrain {

/// Master weights and gradients have type `parameters`; `autocast` is the type of the expensive
/// operations of the forward pass (torch.autocast). The loss is always taken in `parameters`.
struct Numerics {
  at::ScalarType parameters = at::kFloat;                  // kDouble for fp64
  std::optional<at::ScalarType> autocast = {};             // kBFloat16 or kHalf for mixed precision
  std::optional<at::ScalarType> evaluation_autocast = {};  // the same of evaluation
  bool channels_last = false;
};

/// The type in which weights travel that autocast casts wherever they are read, where passes of
/// training and of evaluation cast them to the same; none: their own.
std::optional<at::ScalarType> travelling_type(const Numerics& numerics);

/// torch.autocast while it lives, on this thread; nothing without a type.
class Autocast {
 public:
  Autocast(at::DeviceType device, std::optional<at::ScalarType> type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool active_;
  bool was_enabled_ = false;
  at::ScalarType was_type_ = at::kFloat;
};

/// A tensor where and as the forward pass wants it: floating ones in the type of the parameters,
/// 4-d ones channels_last if so asked.
at::Tensor prepared(const at::Tensor& tensor, const Numerics& numerics, at::Device device);

/// Is every element of all tensors, of one type and device, finite? Waits for the device once.
bool all_finite(const std::vector<at::Tensor>& tensors);

}  // namespace ddptrain
