#include "transforms/geometry/resample.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "transforms/geometry/resample_kernels.h"
#include "transforms/geometry/taps.h"

namespace ddptrain {
namespace {

struct AxisTaps {
  Taps x, y;
};

template <class Pixels>
AxisTaps taps_of(const Pixels& from, const Window& w) {
  return {make_taps({w.left, w.width, from.width, w.out_width}, w.interpolation, w.antialias),
          make_taps({w.top, w.height, from.height, w.out_height}, w.interpolation, w.antialias)};
}

void shape(Image& into, int channels, const Window& window) {
  into.width = window.out_width;
  into.height = window.out_height;
  into.channels = channels;
}

void shape_bytes(Image& into, int channels, const Window& window) {
  shape(into, channels, window);
  into.floats.clear();
  into.bytes.resize(into.values());
}

void shape_floats(Image& into, int channels, const Window& window) {
  shape(into, channels, window);
  into.bytes.clear();
  into.floats.resize(into.values());
}

/// As normalize_coeffs_8bpc in Pillow's Resample.c.
std::vector<std::int32_t> fixed(const std::vector<double>& weights) {
  std::vector<std::int32_t> whole;
  whole.reserve(weights.size());
  for (double weight : weights)
    whole.push_back(static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) +
                                              weight * (1 << kernels::fraction_bits)));
  return whole;
}

void resize_bytes(const PixelView& from, const AxisTaps& taps, Image& into) {
  const std::size_t stride = std::size_t(from.width) * from.channels;
  const std::size_t out_stride = std::size_t(into.width) * into.channels;
  const auto across = fixed(taps.x.weights), down = fixed(taps.y.weights);
  const auto row_taps = kernels::row_taps(taps.x.first, across, from.channels);
  const int top = taps.y.first.front(), rows = taps.y.end() - top;
  std::vector<std::int32_t> line(stride + std::size_t(taps.x.size + 2) * from.channels);
  std::vector<std::uint8_t> narrowed(rows * out_stride);
  for (int y = 0; y < rows; ++y) {
    kernels::widen(from.row(top + y), stride, line.data());
    kernels::gather_row_exact(line.data(), row_taps, &narrowed[y * out_stride]);
  }
  for (int y = 0; y < into.height; ++y)
    kernels::blend_rows_exact(&narrowed[(taps.y.first[y] - top) * out_stride], out_stride,
                              &down[std::size_t(y) * taps.y.size], taps.y.count[y], out_stride,
                              &into.bytes[y * out_stride]);
}

void narrow_row(const float* from, const Taps& taps, int channels, float* to) {
  for (std::size_t i = 0; i < taps.first.size(); ++i)
    for (int c = 0; c < channels; ++c) {
      double sum = 0;
      for (int k = 0; k < taps.count[i]; ++k)
        sum += taps.weights[i * taps.size + k] * from[(taps.first[i] + k) * channels + c];
      to[i * channels + c] = static_cast<float>(sum);
    }
}

void resize_floats(const Image& from, const AxisTaps& taps, Image& into) {
  const std::size_t stride = std::size_t(from.width) * from.channels;
  const std::size_t out_stride = std::size_t(into.width) * into.channels;
  const int top = taps.y.first.front(), rows = taps.y.end() - top;
  std::vector<float> narrowed(rows * out_stride);
  for (int y = 0; y < rows; ++y)
    narrow_row(from.floats.data() + (top + y) * stride, taps.x, from.channels,
               &narrowed[y * out_stride]);
  for (int y = 0; y < into.height; ++y)
    for (std::size_t i = 0; i < out_stride; ++i) {
      double sum = 0;
      for (int k = 0; k < taps.y.count[y]; ++k)
        sum += taps.y.weights[std::size_t(y) * taps.y.size + k] *
               narrowed[(taps.y.first[y] + k - top) * out_stride + i];
      into.floats[y * out_stride + i] = static_cast<float>(sum);
    }
}

/// The rows of an image as floats, each widened once: windows of rows only go down.
class WidenedRows {
 public:
  WidenedRows(const PixelView& from, int most) : from_(from), most_(most) {
    rows_.resize(values() * static_cast<std::size_t>(most));
  }
  std::size_t values() const { return std::size_t(from_.width) * from_.channels; }
  /// No row above `first` is asked for again.
  void begin(int first) { next_ = std::max(next_, first); }
  /// Stays as it is until a row `most` below is asked for.
  const float* row(int y) {
    for (; next_ <= y; ++next_) kernels::widen(from_.row(next_), values(), at(next_));
    return at(y);
  }

 private:
  float* at(int y) { return &rows_[values() * static_cast<std::size_t>(y % most_)]; }

  const PixelView& from_;
  int most_;
  int next_ = 0;
  std::vector<float> rows_;
};

/// One row of floats out of the rows that a tap of the vertical axis names, four at a time.
void blend(WidenedRows& from, const Taps& taps, int y, float* to) {
  const double* weights = &taps.weights[std::size_t(y) * taps.size];
  from.begin(taps.first[y]);
  for (int k = 0; k < taps.count[y]; k += 4) {
    kernels::WeightedRows some{.count = std::min(4, taps.count[y] - k)};
    for (int j = 0; j < some.count; ++j) {
      some.rows[j] = from.row(taps.first[y] + k + j);
      some.weights[j] = static_cast<float>(weights[k + j]);
    }
    kernels::blend_rows(some, from.values(), k > 0, to);
  }
}

/// The source pixel under the middle of each output pixel.
std::vector<std::size_t> nearest_pixels(double first, double length, int out, int size) {
  std::vector<std::size_t> pixels;
  for (int i = 0; i < out; ++i)
    pixels.push_back(static_cast<std::size_t>(
        std::clamp(std::floor(first + (i + 0.5) * length / out), 0.0, size - 1.0)));
  return pixels;
}

/// Not resample(): torch's `nearest`, which that follows, is off by half a source pixel.
Image resampled_mask(const Image& mask, const Window& window) {
  Image out;
  out.width = window.out_width;
  out.height = window.out_height;
  out.channels = 1;
  out.border = mask.border;
  const auto columns = nearest_pixels(window.left, window.width, out.width, mask.width);
  for (const auto row : nearest_pixels(window.top, window.height, out.height, mask.height))
    for (const auto column : columns)
      out.bytes.push_back(mask.bytes[row * static_cast<std::size_t>(mask.width) + column]);
  return out;
}

}  // namespace

Window whole(const Image& image, int out_width, int out_height) {
  return {.left = 0,
          .top = 0,
          .width = double(image.width),
          .height = double(image.height),
          .out_width = out_width,
          .out_height = out_height};
}

PixelView PixelView::part(int left, int top, int part_width, int part_height) const {
  return {row(top) + static_cast<std::ptrdiff_t>(left) * channels, stride, part_width, part_height,
          channels};
}

PixelView view_of(const Image& image) {
  DDP_CHECK(!image.is_float(), "views are of bytes");
  return {image.bytes.data(), std::size_t(image.width) * image.channels, image.width, image.height,
          image.channels};
}

void resample(const PixelView& from, const Window& window, Image& into) {
  const auto taps = taps_of(from, window);
  shape_bytes(into, from.channels, window);
  resize_bytes(from, taps, into);
  into.points.clear();
  into.masks.clear();
}

void resample(const Image& from, const Window& window, Image& into) {
  DDP_CHECK(&from != &into, "resizing in place");
  if (from.is_float()) {
    const auto taps = taps_of(from, window);
    shape_floats(into, from.channels, window);
    resize_floats(from, taps, into);
  } else {
    resample(view_of(from), window, into);
  }
  resample_targets(from, window, into);
}

void resample_targets(const Image& from, const Window& window, Image& into) {
  into.points.clear();
  for (const auto& point : from.points)
    into.points.push_back({(point.x - window.left) * window.out_width / window.width,
                           (point.y - window.top) * window.out_height / window.height});
  into.masks.clear();
  for (const auto& mask : from.masks) into.masks.push_back(resampled_mask(mask, window));
}

void resample_fast(const PixelView& from, const Window& window, Image& into) {
  if (window.interpolation == Interpolation::nearest) return resample(from, window, into);
  const auto taps = taps_of(from, window);
  shape_bytes(into, from.channels, window);
  const auto across = kernels::row_taps(
      taps.x.first, std::vector<float>(taps.x.weights.begin(), taps.x.weights.end()),
      from.channels);
  WidenedRows rows(from, taps.y.size);
  std::vector<float> line(rows.values() + std::size_t(taps.x.size + 2) * from.channels);
  for (int y = 0; y < into.height; ++y) {
    blend(rows, taps.y, y, line.data());
    kernels::gather_row(line.data(), across,
                        into.bytes.data() + std::size_t(y) * into.width * into.channels);
  }
  into.points.clear();
  into.masks.clear();
}

void resample_fast(const Image& from, const Window& window, Image& into) {
  DDP_CHECK(&from != &into, "resizing in place");
  if (from.is_float()) return resample(from, window, into);
  resample_fast(view_of(from), window, into);
  resample_targets(from, window, into);
}

}  // namespace ddptrain
