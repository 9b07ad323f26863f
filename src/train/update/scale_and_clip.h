// Gradients of a step's sum become those of its mean, and are clipped.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ddptrain {

struct Training;

/// Whether the step after `step` steps is logged. On other steps the norm of the gradients, a pass
/// over them, is not computed.
bool log_is_due(const Training& training, std::int64_t step);
bool group_norms_are_due(const Training& training, std::int64_t step);

/// One pass over the gradients: removal of the loss scale, the weight ratio and clipping, left out
/// where `factor` is 1 and nothing clips. The norm of the mean before clipping; NaN where it is
/// neither wanted nor what clips.
double scale_and_clip(Training& training, bool norm_is_wanted, double factor);

/// The same by numbers of the device. The norm is undefined where it would be NaN above.
struct DeviceNorm {
  at::Tensor value;
  bool clips = false;
};

/// `overflow`, one float: becomes 1 where a gradient is not finite.
DeviceNorm scale_and_clip(Training& training, bool norm_is_wanted, const at::Tensor& factor,
                          at::Tensor& overflow);

}  // namespace ddptrain
