// RandAugment (Cubuk et al. 2020): torchvision.transforms.v2.RandAugment.
#include "transforms/policies/augment_ops.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class RandAugment final : public Transform {
 public:
  struct Options {
    std::int64_t num_ops = 2;
    std::int64_t magnitude = 9;
    std::int64_t num_magnitude_bins = 31;
    AugmentWarp warp;
    void fields(Fields& f) {
      f("num_ops", num_ops, {.doc = "How many operations, one after the other.", .min = 0});
      f("magnitude", magnitude, {.doc = "How strong, from 0 to one less than the bins.", .min = 0});
      f("num_magnitude_bins", num_magnitude_bins,
        {.doc = "How many strengths there are.", .min = 2});
      warp.fields(f);
      f.require(below("magnitude", "num_magnitude_bins"));
    }
  };

  explicit RandAugment(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override {
    constexpr auto choices = static_cast<std::uint64_t>(AugmentOp::invert);  // all but the last
    for (std::int64_t i = 0; i < options_.num_ops; ++i) {
      const auto op = static_cast<AugmentOp>(random.below(choices));
      const double magnitude = magnitude_of(op,
                                            {static_cast<double>(options_.magnitude),
                                             static_cast<double>(options_.num_magnitude_bins)},
                                            image, {}, random);
      augment(image, op, magnitude, options_.warp.warp());
    }
  }

 private:
  Options options_;
};

}  // namespace

Entry<Transform> rand_augment() {
  return entry_of<Transform, RandAugment>("rand_augment",
                                          "Random operations of one strength (RandAugment).",
                                          {"random", "before_normalize"});
}

}  // namespace ddptrain
