#include "metrics/labels.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/bincount.h>

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

Metric::Terms count_true(const at::Tensor& flags) {
  return {static_cast<double>(flags.sum().item<std::int64_t>()),
          static_cast<double>(flags.numel())};
}

std::vector<double> count_pairs(const at::Tensor& output, const at::Tensor& target) {
  const auto classes = output.size(1);
  const auto guess = predicted(output);
  const auto labels = labels_of(target, guess);
  const auto pairs = labels.mul(classes).add(guess).reshape({-1});
  const auto counts = at::bincount(pairs, {}, classes * classes).to(at::kCPU, at::kDouble);
  DDP_CHECK(counts.numel() == classes * classes, "a label is not below the number of classes");
  const auto* first = counts.const_data_ptr<double>();
  return {first, first + counts.numel()};
}

std::string class_name(const MetricContext& context, std::size_t index) {
  return index < context.classes.size() ? context.classes[index] : std::to_string(index);
}

double ratio(const Metric::Terms& total) {
  if (total.size() < 2 || total[1] == 0) return std::numeric_limits<double>::quiet_NaN();
  return total[0] / total[1];
}

}  // namespace ddptrain
