// Channels of images as the last axis and back, between convolutions and layers over features.
#pragma once

#include "models/module.h"

namespace ddptrain {

/// [rows, channels, height, width] to [rows, height, width, channels].
class ChannelsToEnd final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override {
    return input.permute({0, 2, 3, 1});
  }
};

/// [rows, height, width, channels] to [rows, channels, height, width].
class ChannelsToFront final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override {
    return input.permute({0, 3, 1, 2});
  }
};

}  // namespace ddptrain
