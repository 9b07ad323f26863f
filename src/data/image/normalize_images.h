// Images that travel as bytes, and become floats where the model is.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ddptrain {

/// value = pixel * factor + offset of its channel, in float32 with two roundings as the host
/// computes it (transforms/codecs/write.h). Inputs of a batch that has one are pixels, uint8
/// [rows, channels, height, width], and where `fill` is not empty boxes, int32 [rows, boxes, 4]:
/// top, left, bottom, right of what becomes `fill` instead, none where bottom <= top.
///
/// Where rows are mixed (data/mix/mixing.h), both follow again, those of each row's partner, and
/// float [rows, 5]: top, left, bottom, right of the box within which a row is mixed, and the weight
/// w of its own values there: partner + w * (own - partner), three roundings, as the host's blend.
struct PixelScale {
  std::vector<float> factor, offset, fill;  // of each channel
  /// The three on a device, copied there once.
  std::array<at::Tensor, 3> on(at::Device device) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::array<at::Tensor, 3>> copies_;  // by device
};

/// The inputs of a batch, which are on one device, as the host would have made them: images, of
/// float32 and then of `type`.
std::vector<at::Tensor> finished_pixels(const std::vector<at::Tensor>& inputs,
                                        const PixelScale& scale, at::ScalarType type);

}  // namespace ddptrain
