// Seen from aside at random: torchvision.transforms.v2.RandomPerspective.
#include "transforms/geometry/projection.h"
#include "transforms/options.h"
#include "transforms/random_change.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class RandomPerspective final : public Transform {
 public:
  struct Options {
    double distortion_scale = 0.5;
    double p = 0.5;
    WarpLookup interpolation = WarpLookup::bilinear;
    double fill = 0;
    void fields(Fields& f) {
      f("distortion_scale", distortion_scale,
        {.doc = "How far corners move in, as a share of half a side.", .min = 0, .max = 1});
      chance_field(f, p);
      f("interpolation", interpolation, {.doc = "How pixels between pixels are made."});
      f("fill", fill, {.doc = "Value of what was outside: 0 to 255 before normalize."});
    }
  };

  explicit RandomPerspective(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override {
    if (random.uniform() >= options_.p) return;
    const double right = image.width - 1, lower = image.height - 1;
    const Corners from{{{0, 0}, {right, 0}, {right, lower}, {0, lower}}};
    const auto in_x = [&] { return inward(image.width, random); };
    const auto in_y = [&] { return inward(image.height, random); };
    Corners to;
    for (std::size_t i = 0; i < 4; ++i) {
      to[i][0] = from[i][0] == 0 ? in_x() : right - in_x();
      to[i][1] = from[i][1] == 0 ? in_y() : lower - in_y();
    }
    perspective(image, from, to,
                {static_cast<Interpolation>(options_.interpolation), options_.fill});
  }

 private:
  double inward(int side, Stream& random) const {
    const int half = side / 2;
    const int most = static_cast<int>(options_.distortion_scale * half);
    return static_cast<double>(random.below(static_cast<std::uint64_t>(most) + 1));
  }

  Options options_;
};

}  // namespace

Entry<Transform> perspective_transform() {
  return entry_of<Transform, RandomPerspective>(
      "perspective", "Looks at the image from aside at random.", {"random"});
}

}  // namespace ddptrain
