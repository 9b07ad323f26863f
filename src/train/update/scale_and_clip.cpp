#include "train/update/scale_and_clip.h"

#include <ATen/ops/_foreach_mul.h>

#include <cmath>
#include <limits>
#include <vector>

#include "distributed/engine.h"
#include "optim/clip.h"
#include "optim/scaling.h"
#include "train/training.h"
#include "train/update/sharded_optimizer.h"

namespace ddptrain {
namespace {

std::vector<at::Tensor> gradients(Training& t) {
  std::vector<at::Tensor> defined;
  for (const auto& [name, parameter] : t.engine->masters())
    if (parameter.grad().defined()) defined.push_back(parameter.grad());
  return defined;
}

}  // namespace

bool log_is_due(const Training& t, std::int64_t step) {
  const Period period(t.recipe.log.every, t.length);
  return period.timed() || period.due(step + 1);
}

bool group_norms_are_due(const Training& t, std::int64_t step) {
  return t.recipe.log.group_norms && log_is_due(t, step);
}

double scale_and_clip(Training& t, bool norm_is_wanted, double factor) {
  constexpr auto unknown = std::numeric_limits<double>::quiet_NaN();
  if (!norm_is_wanted && !t.clip && factor == 1.0) return unknown;
  auto all = gradients(t);
  const auto shared = shared_gradients(t.recipe, *t.engine);
  const bool any = shared.ranks || !all.empty();
  const double norm = norm_is_wanted && any
                          ? std::abs(factor) * gradient_norm(all, 2, shared).item<double>()
                          : unknown;
  if (t.clip) {
    const double clipped = (*t.clip)(all, factor);
    return std::isnan(clipped) ? norm : clipped;
  }
  if (factor != 1.0 && !all.empty()) at::_foreach_mul_(all, factor);
  return norm;
}

DeviceNorm scale_and_clip(Training& t, bool norm_is_wanted, const at::Tensor& factor,
                          at::Tensor& overflow) {
  const auto all = gradients(t);
  at::Tensor norm;
  const auto shared = shared_gradients(t.recipe, *t.engine);
  if (norm_is_wanted && (shared.ranks || !all.empty()))
    norm = gradient_norm(all, 2, shared).mul(factor.abs());
  at::Tensor clipped;
  if (t.clip)
    clipped = (*t.clip)(all, factor, overflow);
  else
    scale_gradients(all, factor, overflow);
  if (shared.ranks) shared.ranks->all_reduce(overflow);
  if (!t.clip) return {norm};
  return clipped.defined() ? DeviceNorm{clipped, true} : DeviceNorm{norm};
}

}  // namespace ddptrain
