#include "train/step/tta.h"

#include <ATen/ops/maximum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

namespace ddptrain {
namespace {

/// Sum (or the largest) of passes, and of how many each number is.
struct Gathered {
  at::Tensor value;
  at::Tensor count;

  void add(const at::Tensor& pass, const at::Tensor& shown, bool use_max) {
    const auto more = use_max ? at::maximum(value, pass) : value.add(pass);
    value = at::where(shown, at::where(count.gt(0), more, pass), value);
    count = count.add(shown);
  }
};

}  // namespace

std::vector<Micro> with_passes(const std::vector<Micro>& micros, std::int64_t n) {
  std::vector<Micro> all;
  for (const auto& micro : micros)
    for (std::int64_t pass = 0; pass <= n; ++pass) {
      all.push_back(micro);
      all.back().pass = pass;
    }
  return all;
}

at::Tensor combined(const std::vector<at::Tensor>& outputs, const Loss& loss, const TtaSpec& tta,
                    const Align& align) {
  const auto activation = loss.activation();
  const auto plain = predictions(outputs.at(0), activation);
  Gathered gathered{at::zeros_like(plain), at::zeros_like(plain)};
  for (std::size_t pass = 1; pass < outputs.size(); ++pass) {
    const auto found = predictions(outputs[pass], activation);
    const auto aligned = align ? align(found, pass) : found;
    const bool moved = !aligned.is_same(found);  // what a network makes NaN stays NaN elsewhere
    const auto shown = moved ? aligned.isnan().logical_not() : at::ones_like(found, at::kBool);
    gathered.add(aligned, shown, tta.use_max);
  }
  const auto shown = gathered.count.gt(0);
  if (tta.use_max)
    return output_of(at::where(shown, at::maximum(gathered.value, plain), plain), activation);
  const auto augmented = at::where(shown, gathered.value.div(gathered.count), plain);
  return output_of(augmented.mul(1 - tta.beta).add(plain, tta.beta), activation);
}

Align alignment(const Dataset& data, const std::vector<Batch>& batches) {
  return [&data, &batches](const at::Tensor& predictions, std::size_t pass) {
    return data.aligned(predictions, batches.at(pass), batches.front());
  };
}

}  // namespace ddptrain
