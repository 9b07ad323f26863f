// Colors become gray: torchvision.transforms.v2.Grayscale.
#include "transforms/color/color.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class ToGrayscale final : public Transform {
 public:
  struct Options {
    std::int64_t channels = 3;
    void fields(Fields& f) {
      f("channels", channels, {.doc = "1, or 3 equal ones.", .min = 1, .max = 3, .odd = true});
    }
  };

  explicit ToGrayscale(const Options& options) : options_(options) {}
  void apply(Image& image, Stream&) const override {
    to_gray(image, static_cast<int>(options_.channels));
  }
  Extent output(Extent in) const override {
    in.channels = static_cast<int>(options_.channels);
    return in;
  }

 private:
  Options options_;
};

}  // namespace

Entry<Transform> to_grayscale() {
  return entry_of<Transform, ToGrayscale>("to_grayscale", "Takes the colors out.");
}

}  // namespace ddptrain
