// Left becomes right, sometimes.
#include "transforms/geometry.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class HorizontalFlip final : public Transform {
 public:
  struct Options {
    double p = 0.5;
    void fields(Fields& f) { f("p", p, {.doc = "Probability of a flip.", .min = 0, .max = 1}); }
  };
  explicit HorizontalFlip(const Options& options) : options_(options) {}
  void apply(Image& image, Stream& random) const override {
    if (random.uniform() < options_.p) flip_horizontally(image);
  }

 private:
  Options options_;
};

}  // namespace

Entry<Transform> horizontal_flip() {
  return entry_of<Transform, HorizontalFlip>(
      "horizontal_flip", "Mirrors left and right with probability `p`.", {"random"});
}

}  // namespace ddptrain
