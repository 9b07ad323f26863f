// AutoAugment (Cubuk et al. 2019) with the policy found on ImageNet:
// torchvision.transforms.v2.AutoAugment.
#include <array>

#include "transforms/policies/augment_ops.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

struct Step {
  AugmentOp op;
  double p;
  double bin;  // of 10
};

using Pair = std::array<Step, 2>;

constexpr std::array<Pair, 25> imagenet_policy{{
    {{{AugmentOp::posterize, 0.4, 8}, {AugmentOp::rotate, 0.6, 9}}},
    {{{AugmentOp::solarize, 0.6, 5}, {AugmentOp::autocontrast, 0.6, 0}}},
    {{{AugmentOp::equalize, 0.8, 0}, {AugmentOp::equalize, 0.6, 0}}},
    {{{AugmentOp::posterize, 0.6, 7}, {AugmentOp::posterize, 0.6, 6}}},
    {{{AugmentOp::equalize, 0.4, 0}, {AugmentOp::solarize, 0.2, 4}}},
    {{{AugmentOp::equalize, 0.4, 0}, {AugmentOp::rotate, 0.8, 8}}},
    {{{AugmentOp::solarize, 0.6, 3}, {AugmentOp::equalize, 0.6, 0}}},
    {{{AugmentOp::posterize, 0.8, 5}, {AugmentOp::equalize, 1.0, 0}}},
    {{{AugmentOp::rotate, 0.2, 3}, {AugmentOp::solarize, 0.6, 8}}},
    {{{AugmentOp::equalize, 0.6, 0}, {AugmentOp::posterize, 0.4, 6}}},
    {{{AugmentOp::rotate, 0.8, 8}, {AugmentOp::color, 0.4, 0}}},
    {{{AugmentOp::rotate, 0.4, 9}, {AugmentOp::equalize, 0.6, 0}}},
    {{{AugmentOp::equalize, 0.0, 0}, {AugmentOp::equalize, 0.8, 0}}},
    {{{AugmentOp::invert, 0.6, 0}, {AugmentOp::equalize, 1.0, 0}}},
    {{{AugmentOp::color, 0.6, 4}, {AugmentOp::contrast, 1.0, 8}}},
    {{{AugmentOp::rotate, 0.8, 8}, {AugmentOp::color, 1.0, 2}}},
    {{{AugmentOp::color, 0.8, 8}, {AugmentOp::solarize, 0.8, 7}}},
    {{{AugmentOp::sharpness, 0.4, 7}, {AugmentOp::invert, 0.6, 0}}},
    {{{AugmentOp::shear_x, 0.6, 5}, {AugmentOp::equalize, 1.0, 0}}},
    {{{AugmentOp::color, 0.4, 0}, {AugmentOp::equalize, 0.6, 0}}},
    {{{AugmentOp::equalize, 0.4, 0}, {AugmentOp::solarize, 0.2, 4}}},
    {{{AugmentOp::solarize, 0.6, 5}, {AugmentOp::autocontrast, 0.6, 0}}},
    {{{AugmentOp::invert, 0.6, 0}, {AugmentOp::equalize, 1.0, 0}}},
    {{{AugmentOp::color, 0.6, 4}, {AugmentOp::contrast, 1.0, 8}}},
    {{{AugmentOp::equalize, 0.8, 0}, {AugmentOp::equalize, 0.6, 0}}},
}};

class AutoAugment final : public Transform {
 public:
  explicit AutoAugment(const AugmentWarp& options) : warp_(options.warp()) {}

  void apply(Image& image, Stream& random) const override {
    for (const auto& step : imagenet_policy[random.below(imagenet_policy.size())]) {
      const bool happens = random.uniform() < step.p;
      const double magnitude = magnitude_of(step.op, {step.bin, 10}, image, {}, random);
      if (happens) augment(image, step.op, magnitude, warp_);
    }
  }

 private:
  WarpOptions warp_;
};

}  // namespace

Entry<Transform> auto_augment() {
  return entry_of<Transform, AutoAugment, AugmentWarp>(
      "auto_augment", "Two operations of the policy that was found on ImageNet (AutoAugment).",
      {"random", "before_normalize"});
}

}  // namespace ddptrain
