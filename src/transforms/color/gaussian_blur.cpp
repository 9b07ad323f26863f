// torchvision.transforms.v2.GaussianBlur.
#include "transforms/color/color.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class GaussianBlur final : public Transform {
 public:
  struct Options {
    std::int64_t kernel_size = 5;
    std::vector<double> sigma{0.1, 2.0};
    void fields(Fields& f) {
      f("kernel_size", kernel_size,
        {.doc = "Pixels that are mixed along each side.", .min = 1, .unit = "px", .odd = true});
      f("sigma", sigma,
        {.doc = "Least and greatest deviation of the bell curve, in pixels.",
         .min = 0,
         .above_min = true,
         .unit = "px",
         .min_items = 2,
         .max_items = 2,
         .items = ItemOrder::ascending});
    }
  };

  explicit GaussianBlur(const Options& options) : options_(options) {}
  void apply(Image& image, Stream& random) const override {
    gaussian_blur(image, static_cast<int>(options_.kernel_size),
                  random.uniform(options_.sigma[0], options_.sigma[1]));
  }

 private:
  Options options_;
};

}  // namespace

Entry<Transform> gaussian_blur_transform() {
  return entry_of<Transform, GaussianBlur>("gaussian_blur", "Blurs by a random amount.",
                                           {"random"});
}

}  // namespace ddptrain
