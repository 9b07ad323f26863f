#include "losses/rows.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <numeric>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/names.h"

namespace ddptrain {
namespace {

/// [rows, n, 2] and [rows, 2n], in either order.
bool are_points_and_numbers(const at::Tensor& a, const at::Tensor& b) {
  const auto& [flat, deep] = a.dim() < b.dim() ? std::pair{a, b} : std::pair{b, a};
  return flat.dim() == 2 && deep.dim() == 3 && deep.size(2) == 2 && deep.size(0) == flat.size(0) &&
         2 * deep.size(1) == flat.size(1);
}

}  // namespace

at::Tensor full_precision(const at::Tensor& output) {
  const auto type = output.scalar_type();
  return type == at::kHalf || type == at::kBFloat16 ? output.to(at::kFloat) : output;
}

at::Tensor fitted_target(const at::Tensor& target, const at::Tensor& output) {
  at::Tensor fitted = target;
  if (target.dim() + 1 == output.dim() && output.size(-1) == 1) fitted = target.unsqueeze(-1);
  if (are_points_and_numbers(target, output)) fitted = target.reshape(output.sizes());
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

KnownNumbers known_numbers(const at::Tensor& target, const at::Tensor& predicted) {
  const auto missing = target.isnan();
  return {at::where(missing, predicted, target), missing.logical_not().to(predicted.scalar_type())};
}

void NumberScale::fields(Fields& f) {
  f("scale", scale,
    {.doc = "What outputs and targets are divided by first, such as the deviation of the targets: "
            "the loss is then the same in any unit.",
     .min = 0,
     .above_min = true});
}

std::span<const std::string_view> names(ClassBalance) { return kNameList<"balanced">; }

void ClassWeightOptions::fields(Fields& f) {
  f("weight", weight,
    {.doc = "Weight of each class; none weighs all alike.",
     .min = 0,
     .items = ItemOrder::not_all_zero});
  f("class_weights", class_weights,
    {.doc = "balanced: classes weigh the more the fewer training samples they have, so that all "
            "count alike; null: as `weight` says."});
  f.require(not_both("weight", "class_weights"));
}

namespace {

std::vector<double> weights_of(const ClassWeightOptions& options, const LossContext& context) {
  if (!options.class_weights || !context.class_counts) return options.weight;
  const auto counts = context.class_counts();
  const auto all = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<double> weights;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0)
      throw Error(
          Exit::recipe, Option{"loss.class_weights"},
          "'class_weights: balanced' cannot weigh class {}, of which there is no training sample",
          i);
    weights.push_back(all / static_cast<double>(std::ssize(counts) * counts[i]));
  }
  return weights;
}

}  // namespace

ClassWeights::ClassWeights(const ClassWeightOptions& options, const LossContext& context)
    : ClassWeights(weights_of(options, context), context.classes) {}

ClassWeights::ClassWeights(const std::vector<double>& weights, std::int64_t classes) {
  if (weights.empty()) return;
  const auto count = static_cast<std::int64_t>(weights.size());
  if (classes > 0 && count != classes)
    throw Error(Exit::recipe, Option{"loss.weight"}, "{} weights for {} classes", count, classes);
  weights_ = at::tensor(weights, at::kDouble);
}

at::Tensor ClassWeights::as(const at::Tensor& output) const {
  if (!given()) return weights_;
  const std::lock_guard lock(mutex_);
  for (const auto& copy : copies_)
    if (copy.device() == output.device() && copy.scalar_type() == output.scalar_type()) return copy;
  return copies_.emplace_back(weights_.to(output.device(), output.scalar_type()));
}

LossTerms labeled(at::Tensor values, const at::Tensor& target, const at::Tensor& weights,
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
