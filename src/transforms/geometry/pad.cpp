// A border around the image: torchvision.transforms.v2.Pad.
#include "transforms/geometry.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class Pad final : public Transform {
 public:
  struct Options {
    PaddingOption padding;
    PaddingMode mode = PaddingMode::constant;
    double fill = 0;
    void fields(Fields& f) {
      f("padding", padding,
        {.doc = "Pixels: one number, or left, top, right and bottom.",
         .required = true,
         .example = "4"});
      f("mode", mode, {.doc = "What the border shows."});
      f("fill", fill, {.doc = "Value of a constant border: 0 to 255 before normalize."});
    }
  };

  explicit Pad(const Options& options) : options_(options), borders_(options.padding.borders()) {}

  void apply(Image& image, Stream&) const override {
    pad(image, borders_, options_.mode, options_.fill);
  }

  Extent output(Extent in) const override {
    if (!in.fixed()) return in;
    return {in.channels, in.height + borders_.top + borders_.bottom,
            in.width + borders_.left + borders_.right};
  }

 private:
  Options options_;
  Borders borders_;
};

}  // namespace

Entry<Transform> pad() {
  return entry_of<Transform, Pad>("pad", "Puts a border around the image.", {"changes_size"});
}

}  // namespace ddptrain
