// torchvision.transforms.v2.functional.adjust_gamma with a power at random.
#include "transforms/color/color.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class Gamma final : public Transform {
 public:
  struct Options {
    std::vector<double> gamma{0.8, 1.25};
    void fields(Fields& f) {
      f("gamma", gamma,
        {.doc = "Least and greatest power of values in 0 .. 1; below 1 is brighter.",
         .min = 0,
         .min_items = 2,
         .max_items = 2,
         .items = ItemOrder::ascending});
    }
  };

  explicit Gamma(const Options& options) : options_(options) {}
  void apply(Image& image, Stream& random) const override {
    adjust_gamma(image, random.uniform(options_.gamma[0], options_.gamma[1]));
  }

 private:
  Options options_;
};

}  // namespace

Entry<Transform> gamma_transform() {
  return entry_of<Transform, Gamma>("gamma", "Raises values to a random power.",
                                    {"random", "before_normalize"});
}

}  // namespace ddptrain
