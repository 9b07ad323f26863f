// Turned by a random angle: torchvision.transforms.v2.RandomRotation.
#include "transforms/geometry/projection.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class RotationTransform final : public Transform {
 public:
  struct Options {
    std::vector<double> degrees;
    WarpLookup interpolation = WarpLookup::nearest;
    bool expand = false;
    double fill = 0;
    void fields(Fields& f) {
      f("degrees", degrees,
        {.doc = "Least and greatest angle, counter-clockwise.",
         .min = -360,
         .max = 360,
         .required = true,
         .unit = "degrees",
         .example = "[-10, 10]",
         .min_items = 2,
         .max_items = 2,
         .items = ItemOrder::ascending});
      f("interpolation", interpolation, {.doc = "How pixels between pixels are made."});
      f("expand", expand, {.doc = "Grow the image so that no corner is cut off."});
      f("fill", fill, {.doc = "Value of what was outside: 0 to 255 before normalize."});
    }
  };

  explicit RotationTransform(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override {
    const double degrees = random.uniform(options_.degrees[0], options_.degrees[1]);
    rotate(image, {degrees, static_cast<Interpolation>(options_.interpolation), options_.expand,
                   options_.fill});
  }

  Extent output(Extent in) const override {
    return options_.expand ? Extent{in.channels, 0, 0} : in;
  }

 private:
  Options options_;
};

}  // namespace

Entry<Transform> rotation() {
  return entry_of<Transform, RotationTransform>(
      "rotation", "Turns the image by a random angle about its center.", {"random"});
}

}  // namespace ddptrain
