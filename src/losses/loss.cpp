#include "losses/loss.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/log.h>
#include <ATen/ops/logit.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include "base/error.h"
#include "losses/rows.h"

namespace ddptrain {
namespace {

/// `share` of each row of a and the rest of b.
at::Tensor between(const at::Tensor& a, const at::Tensor& b, const at::Tensor& share) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(a.dim()), 1);
  shape[0] = share.size(0);
  const auto of_a = share.to(a.scalar_type()).view(shape);
  return b.add(a.sub(b).mul(of_a));
}

}  // namespace

LearnedPlaces learned_places(const at::Tensor& hidden, const at::Tensor& target) {
  const auto labels = target.reshape({-1});
  const auto counted = labels.ne(kNoLabel);
  const auto rows = hidden.reshape({-1, hidden.size(-1)});
  if (!labels.is_cpu()) return {{}, rows, labels.mul(counted), counted, target.sizes()};
  const auto places = counted.nonzero().squeeze(1);
  return {places, rows.index_select(0, places), labels.index_select(0, places), {}, target.sizes()};
}

LossTerms in_place(const LearnedPlaces& learned, const LossTerms& terms) {
  const auto put = [&](const at::Tensor& each) {
    if (learned.counted.defined()) return each.mul(learned.counted).view(learned.sizes);
    return at::zeros(learned.sizes, each.options())
        .view({-1})
        .index_copy(0, learned.places, each)
        .view(learned.sizes);
  };
  return {put(terms.values), put(terms.weights)};
}

LossTerms Loss::projected(const ProjectedOutput& output, const at::Tensor& target) const {
  const auto learned = learned_places(output.hidden, target);
  auto scores = at::linear(learned.hidden, output.weight, output.bias);
  if (const auto cap = output.soft_cap; cap > 0) scores = scores.div(cap).tanh().mul(cap);
  return in_place(learned, (*this)(scores, learned.labels));
}

LossTerms loss_of(const Loss& loss, const at::Tensor& output,
                  const std::vector<at::Tensor>& targets) {
  if (targets.size() == 1) return loss(output, targets[0]);
  DDP_CHECK(targets.size() == 3, "one target, or two and a share");
  const auto own = loss(output, targets[0]);
  const auto partners = loss(output, targets[1]);
  return {between(own.values, partners.values, targets[2]),
          between(own.weights, partners.weights, targets[2])};
}

at::Tensor predictions(const at::Tensor& output, const OutputActivation& activation) {
  const auto exact = output.to(at::kDouble);
  switch (activation.kind) {
    case OutputActivation::Kind::softmax:
      return at::softmax(exact, activation.axis);
    case OutputActivation::Kind::sigmoid:
      return at::sigmoid(exact);
    case OutputActivation::Kind::none:
      break;
  }
  return exact;
}

at::Tensor output_of(const at::Tensor& predictions, const OutputActivation& activation) {
  constexpr double least = 1e-15;  // a loss stays finite where all were sure and wrong
  switch (activation.kind) {
    case OutputActivation::Kind::softmax:
      return at::log(predictions.clamp_min(least));
    case OutputActivation::Kind::sigmoid:
      return at::logit(predictions, least);
    case OutputActivation::Kind::none:
      break;
  }
  return predictions;
}

}  // namespace ddptrain
