// TrivialAugment Wide (Mueller and Hutter 2021): torchvision.transforms.v2.TrivialAugmentWide.
#include "transforms/policies/augment_ops.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class TrivialAugment final : public Transform {
 public:
  struct Options {
    std::int64_t num_magnitude_bins = 31;
    AugmentWarp warp;
    void fields(Fields& f) {
      f("num_magnitude_bins", num_magnitude_bins,
        {.doc = "How many strengths there are.", .min = 2});
      warp.fields(f);
    }
  };

  explicit TrivialAugment(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override {
    constexpr auto choices = static_cast<std::uint64_t>(AugmentOp::invert);  // all but the last
    constexpr AugmentLimits wide{.shear = 0.99,
                                 .translate = 32,
                                 .in_pixels = true,
                                 .degrees = 135,
                                 .factor = 0.99,
                                 .bits = 6};
    const auto op = static_cast<AugmentOp>(random.below(choices));
    const auto bins = static_cast<std::uint64_t>(options_.num_magnitude_bins);
    const auto bin = static_cast<double>(random.below(bins));
    augment(image, op, magnitude_of(op, {bin, static_cast<double>(bins)}, image, wide, random),
            options_.warp.warp());
  }

 private:
  Options options_;
};

}  // namespace

Entry<Transform> trivial_augment() {
  return entry_of<Transform, TrivialAugment>(
      "trivial_augment", "One random operation of random strength (TrivialAugment Wide).",
      {"random", "before_normalize"});
}

}  // namespace ddptrain
