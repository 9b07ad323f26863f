// What fastai.vision.augment.RandomResizedCrop does to images of the validation split.
#include <algorithm>
#include <cmath>

#include "transforms/geometry.h"
#include "transforms/geometry/resample.h"
#include "transforms/options.h"
#include "transforms/size_change.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class FastaiValidCrop final : public Transform, public ChangesSize {
 public:
  struct Options {
    SizeOption size;
    double val_xtra = 0.14;
    void fields(Fields& f) {
      f("size", size,
        {.doc = "One number for a square, or height and width.",
         .required = true,
         .example = "224"});
      f("val_xtra", val_xtra,
        {.doc = "Share of the longer side that is resized in excess and then cut off, rounded up "
                "to multiples of 8 pixels.",
         .min = 0});
    }
  };

  explicit FastaiValidCrop(const Options& options) : options_(options) {}

  void apply(Image& image, Stream&) const override {
    const int height = options_.size.rows(), width = options_.size.columns(), more = excess();
    Image resized;
    resample(image, whole(image, width + more, height + more), resized);
    crop(resized, {more / 2, more / 2, width, height});
    image = std::move(resized);
  }

  std::vector<SizeChange> size_changes() const override {
    const int height = options_.size.rows(), width = options_.size.columns();
    return {{.height = height + excess(), .width = width + excess()},
            {.kind = SizeChange::Kind::center_crop, .height = height, .width = width}};
  }

  Extent output(Extent in) const override {
    return {in.channels, options_.size.rows(), options_.size.columns()};
  }

 private:
  /// Pixels of each side that are cut off.
  int excess() const {
    const auto longer = std::max(options_.size.rows(), options_.size.columns());
    return static_cast<int>(std::ceil(longer * options_.val_xtra / 8)) * 8;
  }

  Options options_;
};

}  // namespace

Entry<Transform> fastai_valid_crop() {
  return entry_of<Transform, FastaiValidCrop>(
      "fastai_valid_crop",
      "Squishes the image to a little more than a size and keeps the middle, as fastai's "
      "RandomResizedCrop does in validation; random_resized_crop is what it does in training.",
      {"gives_size"});
}

}  // namespace ddptrain
