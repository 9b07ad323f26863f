// Top becomes bottom, sometimes.
#include "transforms/geometry.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class VerticalFlip final : public Transform {
 public:
  struct Options {
    double p = 0.5;
    void fields(Fields& f) { f("p", p, {.doc = "Probability of a flip.", .min = 0, .max = 1}); }
  };
  explicit VerticalFlip(const Options& options) : options_(options) {}
  void apply(Image& image, Stream& random) const override {
    if (random.uniform() < options_.p) flip_vertically(image);
  }

 private:
  Options options_;
};

}  // namespace

Entry<Transform> vertical_flip() {
  return entry_of<Transform, VerticalFlip>(
      "vertical_flip", "Mirrors top and bottom with probability `p`.", {"random"});
}

}  // namespace ddptrain
