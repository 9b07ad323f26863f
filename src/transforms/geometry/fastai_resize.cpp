// fastai.vision.augment.Resize: squish, or crop or pad to the wanted aspect, then resize.
#include <algorithm>
#include "base/names.h"
#include "transforms/geometry.h"
#include "transforms/geometry/fastai_pose.h"
#include "transforms/geometry/resample.h"
#include "transforms/options.h"
#include "transforms/size_change.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

enum class Method { crop, squish, pad };
enum class At { middle, random };

std::span<const std::string_view> names(Method) { return kNameList<"crop", "squish", "pad">; }

std::span<const std::string_view> names(At) { return kNameList<"middle", "random">; }

/// Reflection continues beyond the image's own size, as numpy.pad's does.
void pad_repeatedly(Image& image, Borders rest, PaddingMode mode) {
  while (rest.any()) {
    const bool bounded = mode == PaddingMode::reflect;
    const int most_x = bounded ? image.width - 1 : 65535;
    const int most_y = bounded ? image.height - 1 : 65535;
    if ((most_x == 0 && rest.left + rest.right > 0) || (most_y == 0 && rest.top + rest.bottom > 0))
      mode = PaddingMode::edge;  // the mirror image of one pixel is that pixel
    if (mode == PaddingMode::edge) return pad(image, rest, mode, 0);
    const Borders now{std::min(rest.left, most_x), std::min(rest.top, most_y),
                      std::min(rest.right, most_x), std::min(rest.bottom, most_y)};
    pad(image, now, mode, 0);
    rest = {rest.left - now.left, rest.top - now.top, rest.right - now.right,
            rest.bottom - now.bottom};
  }
}

class FastaiResize final : public Transform, public ChangesSize {
 public:
  struct Options {
    SizeOption size;
    Method method = Method::crop;
    FastaiPadMode pad_mode = FastaiPadMode::reflection;
    At at = At::middle;
    void fields(Fields& f) {
      f("size", size,
        {.doc = "One number for a square, or height and width.",
         .required = true,
         .example = "224"});
      f("method", method,
        {.doc = "'crop' to the wanted aspect, 'pad' to it, or 'squish' without keeping it."});
      f("pad_mode", pad_mode, {.doc = "What the border of method 'pad' shows."});
      f("at", at,
        {.doc = "Where it is cropped or padded: fastai draws the place in training ('random') and "
                "takes the middle in validation."});
      f.require(needs(is("at", "random"), is_not("method", "squish")));
    }
  };

  explicit FastaiResize(const Options& options) : options_(options) {}

  void apply(Image& image, Stream& random) const override {
    Window drawn = cut(image.width, image.height, random);
    if (options_.method == Method::pad) drawn = padded(image, drawn);
    Image resized;
    resample(image, drawn, resized);
    image = std::move(resized);
  }

  std::optional<Window> window(int width, int height, Stream& random) const override {
    if (options_.method == Method::pad) return {};
    return cut(width, height, random);
  }

  std::vector<SizeChange> size_changes() const override {
    if (options_.method == Method::pad || options_.at == At::random) return {};
    SizeChange change{.height = options_.size.rows(), .width = options_.size.columns()};
    if (options_.method == Method::crop) change.kind = SizeChange::Kind::cut_to_aspect;
    return {change};
  }

  Extent output(Extent in) const override {
    return {in.channels, options_.size.rows(), options_.size.columns()};
  }

 private:
  /// The rectangle that is resized; with method pad it surrounds the image.
  Window cut(int width, int height, Stream& random) const {
    Window cut{.width = double(width), .height = double(height)};
    cut.out_width = options_.size.columns();
    cut.out_height = options_.size.rows();
    if (options_.method == Method::squish) return cut;
    const double across = double(width) / cut.out_width, down = double(height) / cut.out_height;
    const double by =
        options_.method == Method::pad ? std::max(across, down) : std::min(across, down);
    const int wide = std::max(1, static_cast<int>(by * cut.out_width));
    const int high = std::max(1, static_cast<int>(by * cut.out_height));
    cut.left = static_cast<int>(place(random) * (width - wide));
    cut.top = static_cast<int>(place(random) * (height - high));
    cut.width = wide;
    cut.height = high;
    return cut;
  }

  double place(Stream& random) const { return options_.at == At::random ? random.uniform() : 0.5; }

  /// Crops and pads the image to a rectangle around it; the window is then all of it.
  Window padded(Image& image, const Window& cut) const {
    const int left = static_cast<int>(cut.left), top = static_cast<int>(cut.top);
    const int wide = static_cast<int>(cut.width), high = static_cast<int>(cut.height);
    const Borders borders{std::max(0, -left), std::max(0, -top),
                          std::max(0, left + wide - image.width),
                          std::max(0, top + high - image.height)};
    const Box inside{std::max(0, left), std::max(0, top), wide - borders.left - borders.right,
                     high - borders.top - borders.bottom};
    crop(image, inside);
    pad_repeatedly(image, borders, padding_mode(options_.pad_mode));
    return whole(image, cut.out_width, cut.out_height);
  }

  Options options_;
};

}  // namespace

Entry<Transform> fastai_resize() {
  return entry_of<Transform, FastaiResize>(
      "fastai_resize", "Crops, pads or squishes the image to a size, as fastai's Resize.",
      {"gives_size"});
}

}  // namespace ddptrain
