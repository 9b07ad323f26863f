// Options that AlexNet, VGG and SqueezeNet share.
#pragma once

#include "models/vision/image_options.h"

namespace ddptrain {

struct ClassifierOptions : ImageOptions {
  double dropout = 0.5;
  void fields(Fields& f) {
    ImageOptions::fields(f);
    f("dropout", dropout,
      {.doc = "Probability of dropping each element in the classifier.", .min = 0, .max = 1});
  }
};

}  // namespace ddptrain
