// torchvision.transforms.v2.RandomPosterize.
#include "transforms/color/color.h"
#include "transforms/random_change.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

struct PosterizeOptions {
  std::int64_t bits = 4;
  double p = 0.5;
  void fields(Fields& f) {
    f("bits", bits,
      {.doc = "How many of the 8 bits stay.",
       .min = 0,
       .max = 8,
       .required = true,
       .example = "4"});
    chance_field(f, p);
  }
};

}  // namespace

Entry<Transform> posterize_transform() {
  return change_entry<PosterizeOptions>("posterize", "Keeps the highest bits of each value.",
                                        [](Image& image, const PosterizeOptions& options) {
                                          posterize(image, static_cast<int>(options.bits));
                                        });
}

}  // namespace ddptrain
