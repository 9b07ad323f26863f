// Formulas: with N values per channel over all members, mean m, variance v, s = 1/sqrt(v + eps),
//   dx = w s (dy - sum(dy)/N - (x - m) s^2 sum(dy (x - m))/N),
//   dw = s sum(dy (x - m)),  db = sum(dy)  over this member's rows.
// Both native kernels below are batch norm in evaluation mode with the batch's own statistics: they
// know every memory format, and pass over the data once.
#include "models/operators/sync_batch_norm.h"

#include <ATen/ops/batch_norm_backward_elemt.h>
#include <ATen/ops/batch_norm_backward_reduce.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/threshold_backward.h>
#include <ATen/ops/zeros_like.h>

#include <tuple>
#include <utility>

#include "autograd/function.h"

namespace ddptrain {
namespace {

at::Tensor dense(const at::Tensor& tensor, const at::Tensor& like) {
  return tensor.contiguous(like.suggest_memory_format());
}

at::Tensor per_channel(const at::Tensor& values, const at::Tensor& input) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[1] = -1;
  return values.view(shape);
}

at::Tensor normalize(const at::Tensor& input, const NormTerms& terms) {
  return std::get<0>(at::native_batch_norm(dense(input, input), terms.weight, terms.bias,
                                           terms.mean, terms.variance, false, 0, terms.eps));
}

/// What a member's backward pass works with.
struct Terms {
  at::Tensor gradient, input, weight, mean, variance, inverse, count;
  double eps;
  Statistics* members;
};

/// Of the input, which may be undefined, and this member's shares of weight and bias.
struct Gradients {
  at::Tensor input, weight, bias;
};

// Per channel over this member's rows: sum(dy (x - m) s) and sum(dy), which are the gradients of
// weight and bias.
std::pair<at::Tensor, at::Tensor> local_sums(const Terms& t) {
  if (t.input.numel() == 0) return {at::zeros_like(t.mean), at::zeros_like(t.mean)};
  const auto [unused, weight, bias] = at::native_batch_norm_backward(
      dense(t.gradient, t.input), dense(t.input, t.input), at::ones_like(t.mean), t.mean,
      t.variance, t.mean, t.inverse, false, t.eps, {false, true, true});
  return {weight, bias};
}

Gradients backward_on_host(const Terms& t, bool wants_input) {
  const auto [weight, bias] = local_sums(t);
  if (!wants_input) return {{}, weight, bias};
  auto sums = at::cat({weight, bias}).to(at::kDouble);
  t.members->all_reduce(sums);
  if (t.input.numel() == 0) return {at::empty_like(t.input), weight, bias};
  const auto type = t.mean.scalar_type();
  const auto means = sums.div_(t.count.clamp_min(1)).to(type).chunk(2);
  const auto slope = t.inverse.mul(t.weight);
  auto dx = normalize(t.input.to(type), {.weight = slope.mul(means[0]).neg_(),
                                         .bias = slope.mul(means[1]).neg_(),
                                         .mean = t.mean,
                                         .variance = t.variance,
                                         .eps = t.eps});
  dx.addcmul_(t.gradient.to(type), per_channel(slope, t.input));
  return {dx.to(t.input.scalar_type()), weight, bias};
}

// torch's own kernels for synchronized batch norm, which the CPU does not have.
Gradients backward_on_device(const Terms& t, bool wants_input) {
  const auto gradient = dense(t.gradient, t.input), input = dense(t.input, t.input);
  const auto none = [&] { return at::zeros_like(t.mean); };
  const auto [plain, products, weight, bias] =
      input.numel() == 0 ? std::tuple{none(), none(), none(), none()}
                         : at::batch_norm_backward_reduce(gradient, input, t.mean, t.inverse,
                                                          t.weight, true, true, true);
  if (!wants_input) return {{}, weight, bias};
  auto sums = at::cat({plain, products});
  t.members->all_reduce(sums);
  if (input.numel() == 0) return {at::empty_like(input), weight, bias};
  const auto all = sums.chunk(2);
  const auto dx = at::batch_norm_backward_elemt(gradient, input, t.mean, t.inverse, t.weight,
                                                all[0], all[1], t.count);
  return {dx, weight, bias};
}

/// Of input, weight, bias and residual.
class SyncBatchNormFunction final : public AutogradFunction {
 public:
  SyncBatchNormFunction(const SyncStatistics& statistics, bool relu, double eps,
                        Statistics& members)
      : statistics_(statistics), relu_(relu), eps_(eps), members_(members) {}

  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    const auto& input = inputs[0];
    const auto statistics = std::exchange(statistics_, {});
    adds_ = inputs[3].defined();
    const auto output = normalized(inputs, {.weight = inputs[1].detach(),
                                            .bias = inputs[2].detach(),
                                            .mean = statistics.mean,
                                            .variance = statistics.variance,
                                            .eps = eps_});
    context.save({input, inputs[1].detach(), statistics.mean, statistics.variance,
                  statistics.inverse, statistics.count, relu_ ? output : at::Tensor()});
    return output;
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    const auto saved = context.saved();
    const auto& output = saved[6];
    const auto masked = output.defined() ? at::threshold_backward(gradient, output, 0) : gradient;
    const Terms terms{masked,   saved[0], saved[1], saved[2], saved[3],
                      saved[4], saved[5], eps_,     &members_};
    const auto pass = terms.input.is_cpu() ? backward_on_host : backward_on_device;
    const auto made = pass(terms, context.wants_gradient(0));
    return {made.input, made.weight, made.bias, adds_ ? masked : at::Tensor()};
  }

 private:
  at::Tensor normalized(const std::vector<at::Tensor>& inputs, const NormTerms& terms) const {
    const auto& input = inputs[0];
    if (input.numel() == 0) return at::empty_like(input);
    if (relu_ || !input.is_cpu())
      return std::get<0>(batch_norm_op(input, {relu_, inputs[3]}, terms));
    return normalize(input, terms);
  }

  SyncStatistics statistics_;  // none after the forward pass: the context keeps them
  bool relu_, adds_ = false;
  double eps_;
  Statistics& members_;
};

}  // namespace

at::Tensor sync_batch_norm(const at::Tensor& input, const SyncNormTerms& terms,
                           const SyncStatistics& statistics, Statistics& members) {
  const auto& mean = statistics.mean;
  // An autograd function takes no undefined tensors.
  const auto weight = terms.weight.defined() ? terms.weight : at::ones_like(mean);
  const auto bias = terms.bias.defined() ? terms.bias : at::zeros_like(mean);
  return apply_function(
      c10::make_intrusive<SyncBatchNormFunction>(statistics, terms.end.relu, terms.eps, members),
      {input, weight, bias, terms.end.residual});
}

}  // namespace ddptrain
