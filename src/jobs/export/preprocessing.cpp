#include "jobs/export/preprocessing.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <optional>

#include "base/error.h"
#include "data/image/normalize_images.h"

namespace ddptrain {
namespace {

using Kind = SizeChange::Kind;

// Sizes are tensors of no dimension in double: integers would be constants in a trace.

at::Tensor number(double value) { return at::scalar_tensor(value, at::kDouble); }

/// 0, 1, 2, ... for each place of a dimension of `pixels`.
at::Tensor places_along(const at::Tensor& pixels, std::int64_t dimension) {
  const auto line = pixels.select(dimension == 2 ? 3 : 2, 0).select(0, 0).select(0, 0);
  return at::ones_like(line, at::kDouble).cumsum(0).sub(1);
}

/// One side of the images.
struct Side {
  at::Tensor places;  // 0, 1, 2, ...
  at::Tensor size;

  explicit Side(const at::Tensor& line) : places(line), size(line.max().add(1)) {}
};

/// A resize of one side of which only some places are wanted: source pixels `low` .. `low + length`
/// become `out`, and of these `count` from `first` on are kept; those outside of them are black.
struct SideResize {
  at::Tensor low, length, out, first;
  std::int64_t count = 0;  // 0: not known yet
};

at::Tensor triangle(const at::Tensor& at) { return at.abs().neg().add(1).clamp_min(0); }

/// Keys's cubic with a = -0.5.
at::Tensor cubic(const at::Tensor& at) {
  const auto x = at.abs();
  const auto inner = x.mul(1.5).sub(2.5).mul(x).mul(x).add(1);
  const auto outer = x.sub(5).mul(x).add(8).mul(x).sub(4).mul(-0.5);
  return at::where(x.lt(1), inner, at::where(x.lt(2), outer, number(0)));
}

/// Weights [count, places] of stretched_taps() in transforms/geometry/taps.cpp, as whole numbers of
/// 2^-22 as its caller rounds them.
at::Tensor weights_of(const SideResize& resize, const Side& side, Interpolation interpolation) {
  const auto wanted = at::arange(resize.count, at::kDouble).add(resize.first).unsqueeze(1);
  const auto scale = resize.length.div(resize.out);
  const auto stretch = scale.clamp_min(1);
  const auto center = wanted.add(0.5).mul(scale).add(resize.low);
  const auto at = side.places.unsqueeze(0).sub(center).add(0.5).div(stretch);
  const auto inside =
      side.places.ge(resize.low).logical_and(side.places.lt(resize.low.add(resize.length)));
  auto weights = interpolation == Interpolation::bilinear ? triangle(at) : cubic(at);
  weights = weights.mul(inside.to(at::kDouble));
  const auto sum = weights.sum(at::IntArrayRef{1}, true);
  weights = weights.div(at::where(sum.eq(0), number(1), sum)).mul(double(1 << 22));
  const auto rounded = weights.abs().add(0.5).floor();
  const auto shown = wanted.ge(0).logical_and(wanted.lt(resize.out)).to(at::kDouble);
  return at::where(weights.lt(0), rounded.neg(), rounded).mul(shown);
}

at::Tensor to_bytes(const at::Tensor& sums) {
  return sums.add(double(1 << 21)).div(double(1 << 22)).floor().clamp(0, 255);
}

/// Images [rows, channels, height, width] of whole numbers in double, and the resize that was not
/// done yet, for what follows may crop it.
class Frame {
 public:
  explicit Frame(const at::Tensor& pixels)
      : pixels_(pixels), down_(places_along(pixels, 2)), across_(places_along(pixels, 3)) {}

  void change(const SizeChange& change) {
    if (change.kind == Kind::center_crop) return crop(change);
    flush();
    interpolation_ = change.interpolation;
    if (change.kind == Kind::resize)
      resize_fixed(change);
    else if (change.kind == Kind::resize_side)
      resize_side(change);
    else
      cut_to_aspect(change);
  }

  at::Tensor done() {
    flush();
    return pixels_;
  }

 private:
  static SideResize whole(const Side& side, const at::Tensor& out) {
    return {number(0), side.size, out, number(0), 0};
  }

  void resize(const at::Tensor& height, const at::Tensor& width) {
    y_ = whole(down_, height);
    x_ = whole(across_, width);
  }

  void resize_fixed(const SizeChange& change) {
    resize(number(change.height), number(change.width));
    y_->count = change.height;
    x_->count = change.width;
  }

  /// _compute_resized_output_size in torchvision.
  void resize_side(const SizeChange& change) {
    const auto upright = across_.size.le(down_.size);
    const auto narrow = at::where(upright, across_.size, down_.size);
    const auto wide = at::where(upright, down_.size, across_.size);
    auto shorter = number(change.height);
    auto longer = wide.mul(shorter).div(narrow).floor();
    if (change.max_size) {
      const auto most = number(*change.max_size);
      const auto too_long = longer.gt(most);
      shorter = at::where(too_long, most.mul(shorter).div(longer).floor().clamp_min(1), shorter);
      longer = at::where(too_long, most, longer);
    }
    resize(at::where(upright, longer, shorter), at::where(upright, shorter, longer));
  }

  /// The middle part, as fastai cuts it.
  static SideResize middle(const Side& side, const at::Tensor& by, int out) {
    const auto length = by.mul(out).floor().clamp_min(1);
    return {side.size.sub(length).mul(0.5).floor(), length, number(out), number(0), out};
  }

  void cut_to_aspect(const SizeChange& change) {
    const auto down = down_.size.div(change.height), across = across_.size.div(change.width);
    const auto by = at::where(down.lt(across), down, across);
    y_ = middle(down_, by, change.height);
    x_ = middle(across_, by, change.width);
  }

  /// A border is divided evenly, the rest of it at the end; Python rounds what is cut off to even.
  static void crop_side(SideResize& side, int count) {
    const auto border = side.out.neg().add(count).clamp_min(0).mul(0.5).floor();
    const auto cut = side.out.sub(count).clamp_min(0).mul(0.5).round();
    side.first = cut.sub(border);
    side.count = count;
  }

  void crop(const SizeChange& change) {
    if (!y_ || cropped_) {
      flush();
      resize(down_.size, across_.size);  // to the size that it has
    }
    crop_side(*y_, change.height);
    crop_side(*x_, change.width);
    cropped_ = true;
  }

  void flush() {
    if (!y_) return;
    const auto across = weights_of(*x_, across_, interpolation_);
    pixels_ = to_bytes(at::matmul(pixels_, across.transpose(0, 1)));
    pixels_ = to_bytes(at::matmul(weights_of(*y_, down_, interpolation_), pixels_));
    down_ = Side(at::arange(y_->count, at::kDouble));
    across_ = Side(at::arange(x_->count, at::kDouble));
    y_.reset();
    x_.reset();
    cropped_ = false;
  }

  at::Tensor pixels_;
  Side down_, across_;
  std::optional<SideResize> y_, x_;
  bool cropped_ = false;  // they are
  Interpolation interpolation_ = Interpolation::bilinear;
};

at::Tensor of_channels(const std::vector<float>& values) {
  return at::tensor(values).view({1, -1, 1, 1});
}

}  // namespace

PrepareImages image_preparation(std::vector<SizeChange> changes, const PixelScale& scale) {
  return [changes = std::move(changes), factor = of_channels(scale.factor),
          offset = of_channels(scale.offset)](const std::vector<at::Tensor>& inputs) {
    Frame frame(inputs.at(0).permute({0, 3, 1, 2}).to(at::kDouble));
    for (const auto& change : changes) frame.change(change);
    return std::vector<at::Tensor>{frame.done().to(at::kFloat).mul(factor).add(offset)};
  };
}

}  // namespace ddptrain
