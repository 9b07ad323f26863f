#include "runs/best_evaluation.h"

#include <cmath>
#include <limits>

namespace ddptrain {

bool Best::improves(double value) {
  constexpr double far = std::numeric_limits<double>::infinity();
  const bool better = mode_ == BestMode::max ? value - min_delta_ > best_.value_or(-far)
                                             : value + min_delta_ < best_.value_or(far);
  if (better) best_ = value;
  return better;
}

void BestEvaluationSoFar::add(std::int64_t step, NamedValues values) {
  for (auto& [name, value] : values)
    if (!std::isfinite(value)) value = std::nan("");
  if (best_.improves(value_named(values, watched_.name)))
    found_ = BestEvaluation{watched_.name, watched_.mode, step, std::move(values)};
}

}  // namespace ddptrain
