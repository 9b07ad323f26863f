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

/// What pixels become.
struct Constants {
  const at::Tensor &factor, &offset;
  const Maybe& fill;
};

// Each operator rounds, as the host's loops do.
at::Tensor values_of(const at::Tensor& pixels, const Maybe& boxes, const Constants& constants) {
  const auto values =
      pixels.to(at::kFloat).mul_(of_channels(constants.factor)).add_(of_channels(constants.offset));
  if (!boxes) return values;
  const auto erased = in_a_box(*boxes, pixels.size(2), pixels.size(3));
  return at::where(erased, of_channels(*constants.fill), values);
}

// For devices without a kernel of their own.
at::Tensor normalize_images(const at::Tensor& pixels, const Maybe& boxes, const Maybe& partners,
                            const Maybe& partner_boxes, const Maybe& mixes,
                            const at::Tensor& factor, const at::Tensor& offset, const Maybe& fill,
                            at::ScalarType type) {
  const Constants constants{factor, offset, fill};
  const auto values = values_of(pixels, boxes, constants);
  if (!mixes) return values.to(type);
  const auto others = values_of(*partners, partner_boxes, constants);
  const auto weights = mixes->select(1, 4).view({-1, 1, 1, 1});
  const auto mixed = in_a_box(mixes->narrow(1, 0, 4).unsqueeze(1), pixels.size(2), pixels.size(3));
  return at::where(mixed, others.add(values.sub(others).mul_(weights)), values).to(type);
}

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  m.def(
      "normalize_images(Tensor pixels, Tensor? boxes, Tensor? partners, Tensor? partner_boxes, "
      "Tensor? mixes, Tensor factor, Tensor offset, Tensor? fill, ScalarType dtype) -> Tensor");
}
TORCH_LIBRARY_IMPL(ddptrain, CompositeExplicitAutograd, m) {
  m.impl("normalize_images", &normalize_images);
}

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
                             .typed<decltype(normalize_images)>();
  const auto [factor, offset, fill] = scale.on(inputs.at(0).device());
  const bool mixed = inputs.size() > 2;
  const auto of_an_image = mixed ? (inputs.size() - 1) / 2 : inputs.size();
  const bool boxes = of_an_image > 1;
  const auto input = [&](bool there, std::size_t i) { return there ? Maybe(inputs[i]) : Maybe(); };
  return {op.call(inputs[0], input(boxes, 1), input(mixed, of_an_image),
                  input(mixed && boxes, of_an_image + 1), input(mixed, inputs.size() - 1), factor,
                  offset, boxes ? Maybe(fill) : Maybe(), type)};
}

}  // namespace ddptrain
