// The form of most of torchvision's convolutional networks.
#pragma once

#include "models/layers/chain.h"

namespace ddptrain {

/// Chain `features`, the mean over all places, chain `classifier` on [rows, channels].
class PooledClassifier : public Model {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 protected:
  PooledClassifier()
      : features_(make<Sequence>("features")), classifier_(make<Sequence>("classifier")) {}
  Sequence& features() { return *features_; }
  const Sequence& features() const { return *features_; }
  Sequence& classifier() { return *classifier_; }

 private:
  Sequence *features_, *classifier_;
};

}  // namespace ddptrain
