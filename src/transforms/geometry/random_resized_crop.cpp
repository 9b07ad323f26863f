// A window of random area and aspect, resized: torchvision.transforms.v2.RandomResizedCrop.
#include <algorithm>
#include <cmath>

#include "transforms/geometry/resample.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class RandomResizedCrop final : public Transform {
 public:
  struct Options {
    SizeOption size;
    std::vector<double> scale{0.08, 1.0};
    std::vector<double> ratio{3.0 / 4, 4.0 / 3};
    Interpolation interpolation = Interpolation::bilinear;
    bool antialias = true;
    void fields(Fields& f) {
      f("size", size,
        {.doc = "One number for a square, or height and width.",
         .required = true,
         .example = "224"});
      f("scale", scale,
        {.doc = "Least and greatest share of the image's area.",
         .min = 0,
         .max = 1,
         .above_min = true,
         .min_items = 2,
         .max_items = 2,
         .items = ItemOrder::ascending});
      f("ratio", ratio,
        {.doc = "Least and greatest width by height before resizing.",
         .min = 0,
         .above_min = true,
         .min_items = 2,
         .max_items = 2,
         .items = ItemOrder::ascending});
      f("interpolation", interpolation, {.doc = "How pixels between pixels are made."});
      f("antialias", antialias, {.doc = "Average over source pixels when shrinking."});
    }
  };

  explicit RandomResizedCrop(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override {
    Image resized;
    resample(image, *window(image.width, image.height, random), resized);
    image = std::move(resized);
  }

  std::optional<Window> window(int width, int height, Stream& random) const override {
    Window drawn;
    if (!draw(width, height, random, drawn)) drawn = central(width, height);
    drawn.out_width = options_.size.columns();
    drawn.out_height = options_.size.rows();
    drawn.interpolation = options_.interpolation;
    drawn.antialias = options_.antialias;
    return drawn;
  }

  Extent output(Extent in) const override {
    return {in.channels, options_.size.rows(), options_.size.columns()};
  }

 private:
  /// Ten tries to draw a window that fits; the aspect is uniform in its logarithm.
  bool draw(int width, int height, Stream& random, Window& drawn) const {
    const double area = double(width) * height;
    const double low = std::log(options_.ratio[0]), high = std::log(options_.ratio[1]);
    for (int tries = 0; tries < 10; ++tries) {
      const double share = area * random.uniform(options_.scale[0], options_.scale[1]);
      const double aspect = std::exp(random.uniform(low, high));
      const int w = static_cast<int>(std::nearbyint(std::sqrt(share * aspect)));
      const int h = static_cast<int>(std::nearbyint(std::sqrt(share / aspect)));
      if (w < 1 || h < 1 || w > width || h > height) continue;
      drawn.top = static_cast<double>(random.below(height - h + 1));
      drawn.left = static_cast<double>(random.below(width - w + 1));
      drawn.width = w;
      drawn.height = h;
      return true;
    }
    return false;
  }

  /// The largest central window of a legal aspect.
  Window central(int width, int height) const {
    const double aspect = double(width) / height;
    int w = width, h = height;
    if (aspect < options_.ratio[0])
      h = std::clamp(int(std::nearbyint(w / options_.ratio[0])), 1, height);
    else if (aspect > options_.ratio[1])
      w = std::clamp(int(std::nearbyint(h * options_.ratio[1])), 1, width);
    Window window;
    const int left = (width - w) / 2, top = (height - h) / 2;  // whole pixels
    window.left = left;
    window.top = top;
    window.width = w;
    window.height = h;
    return window;
  }

  Options options_;
};

}  // namespace

Entry<Transform> random_resized_crop() {
  return entry_of<Transform, RandomResizedCrop>(
      "random_resized_crop", "Resizes a window of random area, aspect and place.",
      {"random", "gives_size"});
}

}  // namespace ddptrain
