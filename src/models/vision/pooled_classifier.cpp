#include "models/vision/pooled_classifier.h"

#include <ATen/ops/adaptive_avg_pool2d.h>

namespace ddptrain {

at::Tensor PooledClassifier::forward(const at::Tensor& input, const Pass& pass) {
  const auto x = features_->forward(input, pass);
  return classifier_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1), pass);
}

}  // namespace ddptrain
