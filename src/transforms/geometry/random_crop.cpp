// A window of fixed size anywhere in the image: torchvision.transforms.v2.RandomCrop.
#include <algorithm>

#include "transforms/geometry.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class RandomCrop final : public Transform {
 public:
  struct Options {
    SizeOption size;
    PaddingOption padding;
    PaddingMode padding_mode = PaddingMode::constant;
    double fill = 0;
    bool pad_if_needed = false;
    void fields(Fields& f) {
      f("size", size,
        {.doc = "One number for a square, or height and width.",
         .required = true,
         .example = "224"});
      f("padding", padding, {.doc = "A border first: one number, or left, top, right and bottom."});
      f("padding_mode", padding_mode, {.doc = "What the border shows."});
      f("fill", fill, {.doc = "Value of a constant border: 0 to 255 before normalize."});
      f("pad_if_needed", pad_if_needed,
        {.doc = "Pad an image that is smaller than `size`; otherwise that is an error."});
    }
  };

  explicit RandomCrop(const Options& options)
      : options_(options), borders_(options.padding.borders()) {}

  void apply(Image& image, Stream& random) const override {
    const int width = options_.size.columns(), height = options_.size.rows();
    if (borders_.any()) pad(image, borders_, options_.padding_mode, options_.fill);
    if (options_.pad_if_needed) {
      const int x = std::max(0, width - image.width), y = std::max(0, height - image.height);
      if (x > 0 || y > 0) pad(image, {x, y, x, y}, options_.padding_mode, options_.fill);
    }
    if (image.width < width || image.height < height)
      throw Error(
          Exit::data,
          "random_crop: {} x {} pixels do not fit into {} x {}; use pad_if_needed, or resize first",
          width, height, image.width, image.height);
    const int top = static_cast<int>(random.below(image.height - height + 1));
    const int left = static_cast<int>(random.below(image.width - width + 1));
    crop(image, {left, top, width, height});
  }

  Extent output(Extent in) const override {
    return {in.channels, options_.size.rows(), options_.size.columns()};
  }

 private:
  Options options_;
  Borders borders_;
};

}  // namespace

Entry<Transform> random_crop() {
  return entry_of<Transform, RandomCrop>("random_crop",
                                         "Cuts out a window of fixed size at a random place.",
                                         {"random", "crops", "gives_size"});
}

}  // namespace ddptrain
