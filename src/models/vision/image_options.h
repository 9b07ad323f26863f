// The options that every network on images has.
#pragma once

#include "config/fields.h"

namespace ddptrain {

struct ImageOptions {
  Auto<std::int64_t> num_classes;
  Auto<std::int64_t> in_channels;
  void fields(Fields& f) {
    f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
    f("in_channels", in_channels,
      {.doc = "Channels of an image; auto takes the data's, or 3.", .min = 1});
  }
};

/// Options that AlexNet, VGG and SqueezeNet share.
struct ClassifierOptions : ImageOptions {
  double dropout = 0.5;
  void fields(Fields& f) {
    ImageOptions::fields(f);
    f("dropout", dropout,
      {.doc = "Probability of dropping each element in the classifier.", .min = 0, .max = 1});
  }
};

}  // namespace ddptrain
