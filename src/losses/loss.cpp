#include "losses/loss.h"

#include <ATen/ops/log.h>
#include <ATen/ops/logit.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>

#include "base/error.h"

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
