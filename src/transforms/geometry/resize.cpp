// Resizes the whole image: torchvision.transforms.v2.Resize.
#include "transforms/geometry/resample.h"
#include "transforms/options.h"
#include "transforms/size_change.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class Resize final : public Transform, public ChangesSize {
 public:
  struct Options {
    SizeOption size;
    std::optional<std::int64_t> max_size;
    Interpolation interpolation = Interpolation::bilinear;
    bool antialias = true;
    void fields(Fields& f) {
      f("size", size,
        {.doc = "One number: the shorter side, the other follows; or height and width.",
         .required = true,
         .example = "224"});
      f("max_size", max_size,
        {.doc = "The longer side gets no longer than this.", .min = 1, .max = 65535, .unit = "px"});
      f("interpolation", interpolation, {.doc = "How pixels between pixels are made."});
      f("antialias", antialias, {.doc = "Average over source pixels when shrinking."});
      f.require(needs("max_size", "size.side"));
      f.require(below("size.side", "max_size"));
    }
  };

  explicit Resize(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override {
    Image resized;
    resample(image, *window(image.width, image.height, random), resized);
    image = std::move(resized);
  }

  std::optional<Window> window(int width, int height, Stream&) const override {
    const Extent out = output({3, height, width});
    return Window{.width = double(width),
                  .height = double(height),
                  .out_width = out.width,
                  .out_height = out.height,
                  .interpolation = options_.interpolation,
                  .antialias = options_.antialias};
  }

  std::vector<SizeChange> size_changes() const override {
    SizeChange change{.height = options_.size.rows(), .width = options_.size.columns()};
    if (options_.size.side) change.kind = SizeChange::Kind::resize_side;
    if (options_.max_size) change.max_size = static_cast<int>(*options_.max_size);
    change.interpolation = options_.interpolation;
    change.antialias = options_.antialias;
    return {change};
  }

  Extent output(Extent in) const override {
    if (!options_.size.side) return {in.channels, options_.size.rows(), options_.size.columns()};
    if (!in.fixed()) return {in.channels, 0, 0};
    return longer_side_follows(in);
  }

 private:
  /// _compute_resized_output_size in torchvision.
  Extent longer_side_follows(Extent in) const {
    const std::int64_t narrow = std::min(in.width, in.height), wide = std::max(in.width, in.height);
    std::int64_t shorter = *options_.size.side, longer = shorter * wide / narrow;
    if (options_.max_size && longer > *options_.max_size) {
      shorter = std::max<std::int64_t>(1, *options_.max_size * shorter / longer);
      longer = *options_.max_size;
    }
    const bool upright = in.width <= in.height;
    return {in.channels, static_cast<int>(upright ? longer : shorter),
            static_cast<int>(upright ? shorter : longer)};
  }

  Options options_;
};

}  // namespace

Entry<Transform> resize() {
  return entry_of<Transform, Resize>("resize", "Resizes the image, antialiased.", {"resizes"});
}

}  // namespace ddptrain
