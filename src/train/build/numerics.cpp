#include "train/build/numerics.h"

#include <optional>

#include "recipe/recipe.h"

namespace ddptrain {
namespace {

std::optional<at::ScalarType> autocast_type(ForwardPrecision precision) {
  if (precision == ForwardPrecision::bf16) return at::kBFloat16;
  if (precision == ForwardPrecision::fp16) return at::kHalf;
  return {};
}

}  // namespace

Numerics numerics(const Recipe& recipe) {
  const auto& train = recipe.train;
  Numerics made;
  made.channels_last = train.channels_last.value.value_or(false);
  if (train.precision.value == Precision::fp64) made.parameters = at::kDouble;
  if (train.precision.value == Precision::bf16) made.autocast = at::kBFloat16;
  if (train.precision.value == Precision::fp16) made.autocast = at::kHalf;
  const auto& evaluation = recipe.eval.precision.value;
  made.evaluation_autocast = evaluation ? autocast_type(*evaluation) : made.autocast;
  return made;
}

}  // namespace ddptrain
