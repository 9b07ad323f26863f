#include "accelerator/cuda/kernels/arguments.h"

#include <algorithm>
#include <cmath>

namespace ddptrain {
namespace {

constexpr std::int64_t kSmall = std::int64_t{1} << 30;  // a loop's last step must fit as well

struct Strides {
  std::int64_t row = 0, repeat = 0, inner = 1, outer_stride = 0, inner_stride = 1;
  std::int64_t elements = 0, repeats = 1;
};

// A factor for each row: how the row lies does not matter.
std::optional<Strides> of_whole_rows(const at::Tensor& input) {
  const auto size = input.numel() / input.size(0);
  const bool rows_are_packed = input.size(0) == 1 || input.stride(0) == size;
  if (!input.is_non_overlapping_and_dense() || !rows_are_packed) return std::nullopt;
  return Strides{.row = size, .inner = size, .elements = size};
}

std::optional<Strides> strides_of(const at::Tensor& input, std::int64_t elements) {
  const auto size = input.numel() / input.size(0);
  if (elements == 1) return of_whole_rows(input);
  if (input.is_contiguous())
    return Strides{.row = size,
                   .repeat = elements,
                   .inner = elements,
                   .elements = elements,
                   .repeats = size / elements};
  if (elements == size && input.dim() == 4 && input.is_contiguous(at::MemoryFormat::ChannelsLast)) {
    const auto channels = input.size(1);
    return Strides{.row = size,
                   .inner = size / channels,
                   .outer_stride = 1,
                   .inner_stride = channels,
                   .elements = size};
  }
  if (input.dim() == 3 && elements == input.size(2) && input.stride(2) == 1 &&
      input.is_non_overlapping_and_dense())
    return Strides{.row = input.stride(0),
                   .repeat = input.stride(1),
                   .inner = elements,
                   .elements = elements,
                   .repeats = input.size(1)};
  return std::nullopt;
}

}  // namespace

bool dropout_takes(const at::Tensor& input, std::int64_t elements) {
  return strides_of(input, elements).has_value();
}

DropoutArguments dropout_arguments(const at::Tensor& input, const DropoutMasks& masks) {
  const auto strides = strides_of(input, masks.elements).value();
  const auto below = static_cast<std::uint64_t>(std::ldexp(masks.p, 32));
  const double kept = masks.p < 1 ? 1 / (1 - masks.p) : 0;
  DropoutArguments a{};
  a.key = masks.key;
  a.step = static_cast<unsigned>(masks.step);
  a.first_row = static_cast<unsigned>(masks.first_row);
  a.last = below > 0 ? static_cast<unsigned>(below - 1) : 0;
  a.one_word = masks.elements == 1;
  a.vectors = strides.inner == strides.elements && strides.elements % 4 == 0 &&
              strides.row % 4 == 0 && strides.repeat % 4 == 0 && reads_fours(input);
  a.small = input.numel() < kSmall;
  a.dropped = below > 0 ? 0 : kept;
  a.kept = kept;
  a.rows = input.size(0);
  a.repeats = strides.repeats;
  a.elements = strides.elements;
  a.row_stride = strides.row;
  a.repeat_stride = strides.repeat;
  a.inner = strides.inner;
  a.outer_stride = strides.outer_stride;
  a.inner_stride = strides.inner_stride;
  return a;
}

NormalizeArguments normalize_arguments(const at::Tensor& pixels, std::int64_t boxes) {
  NormalizeArguments a{};
  a.images = pixels.size(0);
  a.channels = pixels.size(1);
  a.height = pixels.size(2);
  a.width = pixels.size(3);
  a.boxes = boxes;
  a.channels_last = !pixels.is_contiguous();
  a.vectors = 1;
  a.small = pixels.numel() < kSmall;
  return a;
}

NormArguments norm_arguments(const at::Tensor& input, double eps) {
  NormArguments a{};
  a.count = input.numel();
  a.channels = input.size(1);
  a.inner = input.is_contiguous() ? a.count / (input.size(0) * a.channels) : 1;
  a.vectors = (a.inner == 1 ? a.channels : a.inner) % 4 == 0 && reads_fours(input);
  a.small = a.count < kSmall;
  a.eps = eps;
  return a;
}

bool norm_rows_take(const at::Tensor& input) {
  const auto type = input.scalar_type();
  if (type != at::kFloat && type != at::kBFloat16 && type != at::kHalf) return false;
  if (input.dim() < 2 || input.numel() == 0 || norm_arguments(input, 0).inner != 1) return false;
  return input.size(1) % kRowsLane == 0 && reads_fours(input);
}

RowsArguments rows_arguments(const at::Tensor& input, bool relu, double eps) {
  constexpr std::int64_t kMostLanes = 64;  // 512 bytes of bfloat16 side by side
  RowsArguments a{};
  a.rows = input.numel() / input.size(1);
  a.channels = static_cast<int>(input.size(1));
  a.lanes = static_cast<int>(std::min(input.size(1) / kRowsLane, kMostLanes));
  a.relu = relu;
  a.eps = eps;
  return a;
}

std::optional<RowThreads> row_threads(std::int64_t features) {
  constexpr std::int64_t kWarp = 32, kMostFours = 8;
  if (features <= 0 || features % 4 != 0) return std::nullopt;
  for (std::int64_t lanes = kWarp; lanes <= kResidualThreads; lanes *= 2) {
    const auto fours = (features / 4 + lanes - 1) / lanes;
    if (fours <= kMostFours) return RowThreads{static_cast<int>(lanes), static_cast<int>(fours)};
  }
  return std::nullopt;
}

bool max_pool_takes(const at::Tensor& input, std::int64_t kernel) {
  return at::isFloatingType(input.scalar_type()) && input.dim() == 4 && input.numel() > 0 &&
         input.is_contiguous(at::MemoryFormat::ChannelsLast) && input.size(1) % 4 == 0 &&
         kernel * kernel < 256 && reads_fours(input);
}

MaxPoolArguments max_pool_arguments(const at::Tensor& input, const at::Tensor& output,
                                    std::int64_t kernel, std::int64_t stride,
                                    std::int64_t padding) {
  const auto number = [](std::int64_t size) { return static_cast<int>(size); };
  return {input.size(0),         number(input.size(2)),  number(input.size(3)),
          number(input.size(1)), number(output.size(2)), number(output.size(3)),
          number(kernel),        number(stride),         number(padding)};
}

bool are_rows_of_fours(const at::Tensor& rows) {
  return rows.dim() == 2 && rows.numel() > 0 && rows.is_contiguous() && rows.size(1) % 4 == 0 &&
         reads_fours(rows);
}

bool add_relu_takes(const at::Tensor& residual, const at::Tensor& input) {
  return at::isFloatingType(residual.scalar_type()) &&
         residual.scalar_type() == input.scalar_type() && residual.sizes() == input.sizes() &&
         residual.strides() == input.strides() && residual.is_non_overlapping_and_dense();
}

bool reads_fours(const at::Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % 16 == 0;
}

OptimizerTensors optimizer_tensors(const std::vector<at::TensorList>& lists, std::size_t first) {
  OptimizerTensors all{};
  all.fours = 1;
  const auto& parameters = lists.front();
  const auto left = parameters.size() - first;
  all.count = static_cast<int>(std::min<std::size_t>(left, kOptimizerTensors));
  for (int t = 0; t < all.count; ++t) {
    const auto index = first + static_cast<std::size_t>(t);
    all.sizes[t] = parameters[index].numel();
    const auto chunks = (all.sizes[t] + kOptimizerChunk - 1) / kOptimizerChunk;
    all.first_chunks[t + 1] = all.first_chunks[t] + static_cast<int>(chunks);
    for (std::size_t l = 0; l < lists.size(); ++l) {
      const auto& tensor = lists[l][index];
      TORCH_CHECK(
          tensor.scalar_type() == parameters[index].scalar_type() && tensor.numel() == all.sizes[t],
          "an optimizer's tensors differ in type or size");
      all.of[l][t] = const_cast<void*>(tensor.const_data_ptr());
      if (!reads_fours(tensor)) all.fours = 0;
    }
  }
  return all;
}

std::string kernel_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float";
    case at::kDouble:
      return "double";
    case at::kBFloat16:
      return "bfloat16";
    case at::kHalf:
      return "half";
    default:
      TORCH_CHECK(false, "no kernel of ddptrain has the type ", type);
  }
}

}  // namespace ddptrain
