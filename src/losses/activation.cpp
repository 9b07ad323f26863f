#include "losses/activation.h"

#include <ATen/ops/log.h>
#include <ATen/ops/logit.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>

namespace ddptrain {

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
