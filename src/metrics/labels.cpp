#include "metrics/labels.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <sstream>

#include "base/error.h"

namespace ddptrain {

at::Tensor predicted(const at::Tensor& output, std::int64_t axis) {
  return at::argmax(output, axis);
}

at::Tensor labels_of(const at::Tensor& target, const at::Tensor& units, std::int64_t axis) {
  const auto labels = target.dim() == units.dim() + 1 ? predicted(target, axis) : target;
  if (labels.sizes() != units.sizes()) {
    std::ostringstream message;
    message << "targets of shape " << target.sizes() << " do not fit predictions of shape "
            << units.sizes();
    throw Error(Exit::recipe, Option{"metrics"}, message.str());
  }
  if (target.dim() == units.dim() && target.is_floating_point())
    throw Error(Exit::recipe, Option{"metrics"},
                "one of these is about classes, and the targets are numbers; rmse, mae, r2 "
                "and explained_variance are about numbers");
  return labels.to(at::kLong);
}

at::Tensor together(const std::vector<at::Tensor>& numbers) {
  std::vector<at::Tensor> exact;
  for (const auto& each : numbers) exact.push_back(each.to(at::kDouble));
  return at::stack(exact);
}

at::Tensor number(double value, const at::Tensor& like) {
  return at::full({}, value, at::TensorOptions(at::kDouble).device(like.device()));
}

at::Tensor scored(const at::Tensor& labels, const std::optional<std::int64_t>& void_code) {
  return void_code ? labels.ne(*void_code) : at::Tensor();
}

at::Tensor count_true(const at::Tensor& flags, const at::Tensor& counted) {
  if (counted.defined()) return together({flags.logical_and(counted).sum(), counted.sum()});
  return together({flags.sum(), number(static_cast<double>(flags.numel()), flags)});
}

// bincount looks at the largest value to know how many counts there are; a device need not. Units
// that are not scored have a bin of their own behind the others.
at::Tensor count_pairs(const at::Tensor& output, const at::Tensor& target,
                       const std::optional<std::int64_t>& void_code) {
  const auto classes = output.size(1);
  const auto bins = classes * classes + (void_code ? 1 : 0);
  const auto guess = predicted(output);
  const auto labels = labels_of(target, guess);
  auto pairs = labels.mul(classes).add(guess);
  if (void_code) pairs.masked_fill_(labels.eq(*void_code), bins - 1);
  pairs = pairs.reshape({-1});
  if (!pairs.is_cpu()) {
    const auto each = at::ones_like(pairs, at::kDouble);
    const auto counts = at::zeros({bins}, each.options()).scatter_add_(0, pairs, each);
    return counts.narrow(0, 0, classes * classes);
  }
  const auto counts = at::bincount(pairs, {}, bins);
  DDP_CHECK(counts.numel() == bins, "a label is not below the number of classes");
  return counts.narrow(0, 0, classes * classes).to(at::kDouble);
}

std::string class_name(const MetricContext& context, std::size_t index) {
  return index < context.classes.size() ? context.classes[index] : std::to_string(index);
}

double ratio(const Metric::Terms& total) {
  if (total.size() < 2 || total[1] == 0) return std::numeric_limits<double>::quiet_NaN();
  return total[0] / total[1];
}

}  // namespace ddptrain
