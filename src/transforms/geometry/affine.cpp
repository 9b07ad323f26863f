// Moved, turned, scaled and sheared at random: torchvision.transforms.v2.RandomAffine.
#include <cmath>

#include "transforms/geometry/projection.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class RandomAffine final : public Transform {
 public:
  struct Options {
    std::vector<double> degrees{0, 0};
    std::vector<double> translate;
    std::vector<double> scale{1, 1};
    std::vector<double> shear;
    WarpLookup interpolation = WarpLookup::nearest;
    double fill = 0;
    void fields(Fields& f);
  };

  explicit RandomAffine(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override {
    Affine a;
    a.degrees = between(options_.degrees, 0, random);
    if (!options_.translate.empty()) {
      a.translate[0] = shift(options_.translate[0] * image.width, random);
      a.translate[1] = shift(options_.translate[1] * image.height, random);
    }
    a.scale = between(options_.scale, 0, random);
    if (options_.shear.size() >= 2) a.shear[0] = between(options_.shear, 0, random);
    if (options_.shear.size() == 4) a.shear[1] = between(options_.shear, 2, random);
    affine(image, a, {static_cast<Interpolation>(options_.interpolation), options_.fill});
  }

 private:
  static double between(const std::vector<double>& range, std::size_t first, Stream& random) {
    return random.uniform(range[first], range[first + 1]);
  }
  /// Whole pixels, as there.
  static double shift(double most, Stream& random) {
    return std::nearbyint(random.uniform(-most, most));
  }

  Options options_;
};

void RandomAffine::Options::fields(Fields& f) {
  f("degrees", degrees,
    {.doc = "Least and greatest angle, clockwise.",
     .min = -360,
     .max = 360,
     .unit = "degrees",
     .example = "[-10, 10]",
     .min_items = 2,
     .max_items = 2,
     .items = ItemOrder::ascending});
  f("translate", translate,
    {.doc = "Largest shift as shares of width and height.", .min = 0, .max = 1, .lengths = {0, 2}});
  f("scale", scale,
    {.doc = "Least and greatest factor of the size.",
     .min = 0,
     .above_min = true,
     .min_items = 2,
     .max_items = 2,
     .items = ItemOrder::ascending});
  f("shear", shear,
    {.doc = "Least and greatest angle of a shear along x, then of one along y.",
     .min = -89,
     .max = 89,
     .unit = "degrees",
     .lengths = {0, 2, 4}});
  f("interpolation", interpolation, {.doc = "How pixels between pixels are made."});
  f("fill", fill, {.doc = "Value of what was outside: 0 to 255 before normalize."});
}

}  // namespace

Entry<Transform> affine_transform() {
  return entry_of<Transform, RandomAffine>(
      "affine", "Moves, turns, scales and shears the image at random.", {"random"});
}

}  // namespace ddptrain
