#include "models/language/activate_alike.h"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <string>
#include <utility>

#include "autograd/function.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kPart = 32768;  // numbers; torch divides no fewer among threads
constexpr std::int64_t kLoop = 64;     // a multiple of what a vectorized loop of torch reads

/// The last numbers, in a whole number of loops.
void activate_rest(const at::Tensor& to, const at::Tensor& from, const std::string& formula) {
  const auto count = from.size(0);
  const auto filled = at::zeros({kLoop}, from.options());
  filled.narrow(0, 0, count).copy_(from);
  to.copy_(at::gelu(filled, formula).narrow(0, 0, count));
}

void activate_part(const at::Tensor& to, const at::Tensor& from, const std::string& formula) {
  const at::AutoDispatchBelowADInplaceOrView below;  // other threads have modes of their own
  const auto count = from.size(0), rest = count % kLoop;
  if (count > rest) {
    auto whole = to.narrow(0, 0, count - rest);
    at::gelu_out(whole, from.narrow(0, 0, count - rest), formula);
  }
  if (rest > 0)
    activate_rest(to.narrow(0, count - rest, rest), from.narrow(0, count - rest, rest), formula);
}

class AlikeGelu final : public AutogradFunction {
 public:
  explicit AlikeGelu(std::string formula) : formula_(std::move(formula)) {}

  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    context.save(inputs);
    const auto from = inputs[0].detach().contiguous();
    const auto to = at::empty_like(from);
    const auto flat_from = from.view({-1}), flat_to = to.view({-1});
    const auto count = from.numel(), parts = (count + kPart - 1) / kPart;
    at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto part = begin; part < end; ++part) {
        const auto first = part * kPart, size = std::min(kPart, count - first);
        activate_part(flat_to.narrow(0, first, size), flat_from.narrow(0, first, size), formula_);
      }
    });
    return to;
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    return {at::gelu_backward(gradient, context.saved()[0], formula_)};
  }

 private:
  std::string formula_;
};

}  // namespace

at::Tensor activate_alike(Activation activation, const at::Tensor& input) {
  const bool exact = activation == Activation::gelu, tanh = activation == Activation::gelu_tanh;
  if (!input.is_cpu() || !(exact || tanh)) return activate(activation, input);
  return apply_function(c10::make_intrusive<AlikeGelu>(tanh ? "tanh" : "none"), {input});
}

}  // namespace ddptrain
