#include "models/layers/norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <utility>

#include "models/operators/add_relu.h"
#include "models/operators/sync_batch_norm.h"

namespace ddptrain {
namespace {

void require_several(std::int64_t values) {
  if (values == 1)
    throw TooFewValues(
        Exit::recipe,
        "batch norm: one value per channel has no variance; a larger batch.micro would do");
}

// Devices have an operator for both; of planes alone LibTorch's is the faster one (cuDNN's).
at::Tensor normalized(const NormEnd& end, const at::Tensor& input, const NormTerms& terms) {
  const bool is_of_planes = input.dim() > 2 && input.is_contiguous();
  if (end.relu || (!input.is_cpu() && !is_of_planes && input.numel() > 0))
    return batch_norm(input, end, terms);
  return at::batch_norm(input, terms.weight, terms.bias, terms.mean, terms.variance, terms.training,
                        terms.momentum, terms.eps, /*cudnn_enabled=*/true);
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t channels, const BatchNormOptions& options) : options_(options) {
  if (options.affine) {
    weight_ = parameter("weight", at::ones({channels}));
    bias_ = parameter("bias", at::zeros({channels}));
  }
  running_mean_ = buffer("running_mean", at::zeros({channels}));
  running_var_ = buffer("running_var", at::ones({channels}));
  batches_ = buffer("num_batches_tracked", at::zeros({}, at::kLong));
}

at::Tensor BatchNorm::forward(const at::Tensor& input, const Pass& pass) {
  return forward_to({}, input, pass);
}

at::Tensor BatchNorm::forward_relu(const at::Tensor& input, const at::Tensor& residual,
                                   const Pass& pass) {
  if (!input.is_cpu() && input.numel() > 0) return forward_to({true, residual}, input, pass);
  auto output = forward(input, pass);
  return residual.defined() ? add_relu(std::move(output), residual) : at::relu_(output);
}

at::Tensor BatchNorm::forward_to(const NormEnd& end, const at::Tensor& input, const Pass& pass) {
  const bool training = pass.training && !keeps_statistics_;
  if (training && pass.statistics != nullptr) return forward_together(end, input, *pass.statistics);
  return forward_alone(end, input, training && input.size(0) > 0);
}

NormTerms BatchNorm::running_terms(bool training, double momentum) const {
  return {weight_, bias_, running_mean_, running_var_, training, momentum, options_.eps};
}

at::Tensor BatchNorm::forward_alone(const NormEnd& end, const at::Tensor& input, bool training) {
  if (training) {
    require_several(input.numel() / input.size(1));
    batches_.add_(1);
    if (!options_.momentum) return forward_averaging(end, input);
  }
  return normalized(end, input, running_terms(training, options_.momentum.value_or(0)));
}

NormTerms BatchNorm::count_batch() {
  const auto batches = ++*batches_.mutable_data_ptr<std::int64_t>();
  return running_terms(true, options_.momentum.value_or(1 / static_cast<double>(batches)));
}

// The weight of this batch is a number of the device, so that the host need not read it.
at::Tensor BatchNorm::forward_averaging(const NormEnd& end, const at::Tensor& input) {
  if (input.is_cpu())
    return normalized(end, input,
                      running_terms(true, 1 / static_cast<double>(batches_.item<std::int64_t>())));
  auto terms = running_terms(true, 1);
  terms.mean = at::zeros_like(running_mean_);
  terms.variance = at::ones_like(running_var_);
  const auto output = normalized(end, input, terms);
  const at::NoGradGuard no_grad;
  const auto share = batches_.to(running_mean_.scalar_type()).reciprocal_();
  running_mean_.lerp_(terms.mean, share);
  running_var_.lerp_(terms.variance, share);
  return output;
}

// Nothing here waits for the device: an empty batch is a factor of 0.
at::Tensor BatchNorm::forward_together(const NormEnd& end, const at::Tensor& input,
                                       Statistics& members) {
  const auto all = gather_statistics(input, members);
  if (input.is_cpu()) require_several(static_cast<std::int64_t>(values_of(all).item<double>()));
  const auto batch = join_statistics(
      all, input, {running_mean_, running_var_, batches_, options_.momentum, options_.eps});
  return sync_batch_norm(input, {weight_, bias_, options_.eps, end}, batch, members);
}

LayerNorm::LayerNorm(std::int64_t features, double eps)
    : weight_(parameter("weight", at::ones({features}))),
      bias_(parameter("bias", at::zeros({features}))),
      eps_(eps) {}

at::Tensor LayerNorm::forward(const at::Tensor& input, const Pass&) {
  return at::layer_norm(input, weight_.sizes(), weight_, bias_, eps_);
}

ResidualNorm LayerNorm::of_sum(const at::Tensor& input, const at::Tensor& branch) const {
  return residual_norm(input, branch, {weight_, bias_, eps_});
}

}  // namespace ddptrain
