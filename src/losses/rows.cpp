#include "losses/rows.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>

#include <sstream>

#include "base/error.h"

namespace ddptrain {

at::Tensor full_precision(const at::Tensor& output) {
  const auto type = output.scalar_type();
  return type == at::kHalf || type == at::kBFloat16 ? output.to(at::kFloat) : output;
}

at::Tensor fitted_target(const at::Tensor& target, const at::Tensor& output) {
  at::Tensor fitted = target;
  if (target.dim() + 1 == output.dim() && output.size(-1) == 1) fitted = target.unsqueeze(-1);
  if (fitted.sizes() != output.sizes()) {
    std::ostringstream message;
    message << "targets of shape " << target.sizes() << " do not fit outputs of shape "
            << output.sizes() << "; the model has to give one output for each number of a target";
    throw Error(Exit::recipe, Option{"loss"}, message.str());
  }
  return fitted.to(output.scalar_type());
}

LossTerms each_counts_once(at::Tensor values) {
  auto weights = at::ones_like(values.detach());
  return {std::move(values), std::move(weights)};
}

ClassWeights::ClassWeights(const std::vector<double>& weights, std::int64_t classes) {
  if (weights.empty()) return;
  const auto count = static_cast<std::int64_t>(weights.size());
  if (classes > 0 && count != classes)
    throw Error(
        Exit::recipe, Option{"loss.weight"},
        "" + std::to_string(count) + " weights for " + std::to_string(classes) + " classes");
  weights_ = at::tensor(weights, at::kDouble);
}

at::Tensor ClassWeights::as(const at::Tensor& output) const {
  if (!given()) return weights_;
  const std::lock_guard lock(mutex_);
  for (const auto& copy : copies_)
    if (copy.device() == output.device() && copy.scalar_type() == output.scalar_type()) return copy;
  return copies_.emplace_back(weights_.to(output.device(), output.scalar_type()));
}

LossTerms labelled(at::Tensor values, const at::Tensor& target, const at::Tensor& weights,
                   std::int64_t ignored) {
  const auto counted = at::ne(target, ignored);
  auto each = counted.to(values.scalar_type());
  if (weights.defined()) {
    const auto labels = target.mul(counted).reshape({-1});  // an ignored label may be out of range
    each.mul_(at::index_select(weights, 0, labels).view_as(target));
  }
  return {std::move(values), std::move(each)};
}

}  // namespace ddptrain
