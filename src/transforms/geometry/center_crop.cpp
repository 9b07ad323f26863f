// The middle of an image: torchvision.transforms.v2.CenterCrop.
#include <algorithm>
#include <cmath>

#include "transforms/geometry.h"
#include "transforms/options.h"
#include "transforms/size_change.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class CenterCrop final : public Transform, public ChangesSize {
 public:
  struct Options {
    SizeOption size;
    void fields(Fields& f) {
      f("size", size,
        {.doc =
             "One number for a square, or height and width; a smaller image gets a black border.",
         .required = true,
         .example = "224"});
    }
  };

  explicit CenterCrop(const Options& options) : options_(options) {}

  void apply(Image& image, Stream&) const override {
    const int height = options_.size.rows(), width = options_.size.columns();
    const int more_x = std::max(0, width - image.width),
              more_y = std::max(0, height - image.height);
    if (more_x > 0 || more_y > 0)
      pad(image, {more_x / 2, more_y / 2, (more_x + 1) / 2, (more_y + 1) / 2},
          PaddingMode::constant, 0);
    crop(image, {middle(image.width - width), middle(image.height - height), width, height});
  }

  std::vector<SizeChange> size_changes() const override {
    return {{.kind = SizeChange::Kind::center_crop,
             .height = options_.size.rows(),
             .width = options_.size.columns()}};
  }

  Extent output(Extent in) const override {
    return {in.channels, options_.size.rows(), options_.size.columns()};
  }

 private:
  /// Python's round(): half to even.
  static int middle(int rest) { return static_cast<int>(std::nearbyint(rest / 2.0)); }

  Options options_;
};

}  // namespace

Entry<Transform> center_crop() {
  return entry_of<Transform, CenterCrop>("center_crop", "Keeps the middle of the image.",
                                         {"crops", "gives_size"});
}

}  // namespace ddptrain
