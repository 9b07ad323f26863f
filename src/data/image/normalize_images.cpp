#include "data/image/normalize_images.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <optional>

namespace ddptrain {
namespace {

using Maybe = std::optional<at::Tensor>;

at::Tensor of_channels(const at::Tensor& values) { return values.view({1, -1, 1, 1}); }

/// Is each place of a side from `first` up to `last`? [rows, boxes, side]
at::Tensor between(const at::Tensor& first, const at::Tensor& last, std::int64_t side) {
  const auto places = at::arange(side, first.options());
  return places.ge(first.unsqueeze(2)).logical_and_(places.lt(last.unsqueeze(2)));
}

/// [rows, 1, height, width]
at::Tensor in_a_box(const at::Tensor& boxes, std::int64_t height, std::int64_t width) {
  const auto down = between(boxes.select(2, 0), boxes.select(2, 2), height);
  const auto across = between(boxes.select(2, 1), boxes.select(2, 3), width);
  return down.unsqueeze(3).logical_and(across.unsqueeze(2)).any(1, /*keepdim=*/true);
}

// For devices without a kernel of their own; each operator rounds, as the host's loop does.
at::Tensor normalize_images(const at::Tensor& pixels, const at::Tensor& factor,
                            const at::Tensor& offset, const Maybe& boxes, const Maybe& fill,
                            at::ScalarType type) {
  auto values = pixels.to(at::kFloat).mul_(of_channels(factor)).add_(of_channels(offset));
  if (boxes) {
    const auto erased = in_a_box(*boxes, pixels.size(2), pixels.size(3));
    values = at::where(erased, of_channels(*fill), values);
  }
  return values.to(type);
}

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  m.def(
      "normalize_images(Tensor pixels, Tensor factor, Tensor offset, Tensor? boxes, Tensor? fill, "
      "ScalarType dtype) -> Tensor");
}
TORCH_LIBRARY_IMPL(ddptrain, CompositeExplicitAutograd, m) {
  m.impl("normalize_images", &normalize_images);
}

using NormalizeImages = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                   const Maybe&, const Maybe&, at::ScalarType);

}  // namespace

std::array<at::Tensor, 3> PixelScale::on(at::Device device) const {
  const std::lock_guard lock(mutex_);
  auto& copy = copies_[device.str()];
  if (!copy[0].defined())
    copy = {at::tensor(factor).to(device), at::tensor(offset).to(device),
            at::tensor(fill).to(device)};
  return copy;
}

std::vector<at::Tensor> finished_pixels(const std::vector<at::Tensor>& inputs,
                                        const PixelScale& scale, at::ScalarType type) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::normalize_images", "")
                             .typed<NormalizeImages>();
  const auto [factor, offset, fill] = scale.on(inputs.at(0).device());
  const bool boxes = inputs.size() > 1;
  return {op.call(inputs[0], factor, offset, boxes ? Maybe(inputs[1]) : Maybe(),
                  boxes ? Maybe(fill) : Maybe(), type)};
}

}  // namespace ddptrain
