#include "models/operators/dropout_mask.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "autograd/function.h"
#include "base/clones.h"
#include "base/error.h"
#include "models/operators/philox_words.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kChunk = 1024;  // words that stay in the nearest cache

/// The two factors of a mask: words up to `last` stand for `dropped`, those above for `kept`.
template <class T>
struct Factors {
  std::uint32_t last;
  T dropped, kept;
};

template <class T>
Factors<T> factors_of(double p, double scale) {
  const auto below = static_cast<std::uint64_t>(std::ldexp(p, 32));
  const auto kept = static_cast<T>(scale);
  if (below == 0) return {0, kept, kept};
  return {static_cast<std::uint32_t>(below - 1), T(0), kept};
}

#pragma GCC push_options
#pragma GCC optimize("O3")

DDPTRAIN_CLONES void multiply(float* to, const float* from, const std::uint32_t* words,
                              std::int64_t count, const Factors<float>& factors) {
  const auto [last, dropped, kept] = factors;
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] * (words[i] <= last ? dropped : kept);
}

DDPTRAIN_CLONES void multiply(double* to, const double* from, const std::uint32_t* words,
                              std::int64_t count, const Factors<double>& factors) {
  const auto [last, dropped, kept] = factors;
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] * (words[i] <= last ? dropped : kept);
}

DDPTRAIN_CLONES void multiply(at::BFloat16* to, const at::BFloat16* from,
                              const std::uint32_t* words, std::int64_t count,
                              const Factors<at::BFloat16>& factors) {
  const auto last = factors.last;
  const float dropped = factors.dropped, kept = factors.kept;
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = static_cast<float>(from[i]) * (words[i] <= last ? dropped : kept);
}

#pragma GCC pop_options

/// Of what is kept.
double scale_of(double p) { return p < 1 ? 1 / (1 - p) : 0; }

template <class T>
void drop_rows(T* to, const T* from, const MaskRows& rows, const Factors<T>& factors) {
  const auto size = rows.elements;
  const auto grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, size));
  at::parallel_for(0, rows.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::uint32_t, kChunk> words;
    for (auto r = begin; r < end; ++r)
      for (std::int64_t first = 0; first < size; first += kChunk) {
        const auto count = std::min(kChunk, size - first);
        const PhiloxRow counter{rows.key, static_cast<std::uint32_t>(rows.position(r)),
                                static_cast<std::uint32_t>(rows.step)};
        philox_words(words.data(), first / 4, (count + 3) / 4, counter);
        const auto at = r * size + first;
        multiply(to + at, from + at, words.data(), count, factors);
      }
  });
}

// For masks that repeat, inputs whose memory has another order, and fp16, which few CPUs can.
at::Tensor drop_by_mask(const at::Tensor& input, const MaskRows& rows, double p, double scale) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(input.dim()), 1);
  sizes[0] = rows.rows;
  auto left = rows.elements;
  for (auto d = input.dim() - 1; left > 1; left /= input.size(d--))
    sizes[static_cast<std::size_t>(d)] = input.size(d);
  return input.mul(dropout_mask(rows, p, scale, input.scalar_type()).view(sizes));
}

at::Tensor dropout_cpu(const at::Tensor& input, double p, std::int64_t key, std::int64_t step,
                       std::int64_t first_row, at::IntArrayRef positions, std::int64_t elements,
                       const std::optional<at::Tensor>& step_there) {
  if (step_there) step = step_there->item<std::int64_t>();
  const MaskRows rows{static_cast<std::uint64_t>(key),     step, first_row, input.size(0), elements,
                      {positions.begin(), positions.end()}};
  const double scale = scale_of(p);
  const auto type = input.scalar_type();
  if (!input.is_contiguous() || input.numel() != rows.rows * elements || type == at::kHalf)
    return drop_by_mask(input, rows, p, scale);
  const auto output = at::empty_like(input);
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, type, "dropout", [&] {
    drop_rows(output.mutable_data_ptr<scalar_t>(), input.const_data_ptr<scalar_t>(), rows,
              factors_of<scalar_t>(p, scale));
  });
  return output;
}

at::Tensor dropout(const at::Tensor& input, double p, std::int64_t key, std::int64_t step,
                   std::int64_t first_row, at::IntArrayRef positions, std::int64_t elements,
                   const std::optional<at::Tensor>& step_there) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::dropout", "")
                             .typed<decltype(dropout_cpu)>();
  return op.call(input, p, key, step, first_row, positions, elements, step_there);
}

/// The mask is drawn again in the backward pass.
class DropoutFunction final : public AutogradFunction {
 public:
  DropoutFunction(double p, std::int64_t key, std::int64_t step, std::int64_t first_row,
                  at::IntArrayRef positions, std::int64_t elements,
                  std::optional<at::Tensor> step_there)
      : p_(p),
        key_(key),
        step_(step),
        first_row_(first_row),
        elements_(elements),
        positions_(positions.vec()),
        step_there_(std::move(step_there)) {}

  at::Tensor forward(FunctionContext& /*context*/, const std::vector<at::Tensor>& inputs) override {
    const at::AutoDispatchBelowADInplaceOrView below;
    return dropped(inputs[0]);
  }

  std::vector<at::Tensor> backward(const FunctionContext& /*context*/,
                                   const at::Tensor& gradient) override {
    return {dropped(gradient)};
  }

 private:
  at::Tensor dropped(const at::Tensor& tensor) const {
    return dropout(tensor, p_, key_, step_, first_row_, positions_, elements_, step_there_);
  }

  double p_;
  std::int64_t key_, step_, first_row_, elements_;
  std::vector<std::int64_t> positions_;
  std::optional<at::Tensor> step_there_;
};

at::Tensor dropout_autograd(const at::Tensor& input, double p, std::int64_t key, std::int64_t step,
                            std::int64_t first_row, at::IntArrayRef positions,
                            std::int64_t elements, const std::optional<at::Tensor>& step_there) {
  return apply_function(c10::make_intrusive<DropoutFunction>(p, key, step, first_row, positions,
                                                             elements, step_there),
                        {input});
}

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  m.def(
      "dropout(Tensor input, float p, int key, int step, int first_row, int[] positions, "
      "int elements, Tensor? step_there=None) -> Tensor");
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) { m.impl("dropout", &dropout_cpu); }
TORCH_LIBRARY_IMPL(ddptrain, Autograd, m) { m.impl("dropout", &dropout_autograd); }

}  // namespace

MaskRows mask_rows(const Pass& pass, std::uint64_t key, std::int64_t rows, std::int64_t elements) {
  DDP_CHECK(pass.positions.empty() || std::ssize(pass.positions) == rows,
            "a position for each row");
  return {key, pass.step, pass.first_row, rows, elements, pass.positions, pass.step_there};
}

at::Tensor dropout_mask(const MaskRows& rows, double p, double scale, at::ScalarType type) {
  const auto mask =
      at::ones({rows.rows, rows.elements}, type == at::kDouble ? at::kDouble : at::kFloat);
  AT_DISPATCH_FLOATING_TYPES(mask.scalar_type(), "dropout_mask", [&] {
    auto* data = mask.mutable_data_ptr<scalar_t>();
    drop_rows(data, data, rows, factors_of<scalar_t>(p, scale));
  });
  return mask.to(type);
}

at::Tensor drop(const at::Tensor& input, const MaskRows& rows, double p) {
  return dropout(input, p, static_cast<std::int64_t>(rows.key), rows.step, rows.first_row,
                 {rows.positions.data(), rows.positions.size()}, rows.elements,
                 rows.step_there.defined() ? std::optional(rows.step_there) : std::nullopt);
}

void drop_over(const at::Tensor& values, const MaskRows& rows, double p) {
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "drop_over", [&] {
    auto* data = values.mutable_data_ptr<scalar_t>();
    drop_rows(data, data, rows, factors_of<scalar_t>(p, scale_of(p)));
  });
}

}  // namespace ddptrain
