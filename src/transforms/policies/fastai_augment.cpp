// fastai.vision.augment.aug_transforms, drawn for each image: flip, tilt, turn and zoom as one
// look-up of pixels, then brightness and contrast.
#include <cmath>

#include "transforms/color/color.h"
#include "transforms/color/relight.h"
#include "transforms/geometry/fastai_pose.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

class FastaiAugment final : public Transform {
 public:
  struct Options {
    double mult = 1;
    bool do_flip = true;
    bool flip_vert = false;
    double max_rotate = 10;
    double min_zoom = 1;
    double max_zoom = 1.1;
    double max_lighting = 0.2;
    double max_warp = 0.2;
    double p_affine = 0.75;
    double p_lighting = 0.75;
    double max_saturation = 0;
    double max_hue = 0;
    std::optional<SizeOption> size;
    double min_scale = 1;
    WarpLookup mode = WarpLookup::bilinear;
    FastaiPadMode pad_mode = FastaiPadMode::reflection;
    void fields(Fields& f);
  };

  explicit FastaiAugment(const Options& options) : options_(options) {
    auto& o = options_;
    o.max_rotate *= o.mult;
    o.max_lighting *= o.mult;
    o.max_warp *= o.mult;
  }

  void apply(Image& image, Stream& random) const override {
    const FastaiPose drawn = draw_pose(image, random);
    const int width = options_.size ? options_.size->columns() : image.width;
    const int height = options_.size ? options_.size->rows() : image.height;
    pose(image, drawn, width, height,
         {static_cast<Interpolation>(options_.mode), padding_mode(options_.pad_mode)});
    relight(image, draw_light(random));
    if (const double turn = hue(random); turn != 0) adjust_hue(image, turn);
  }

  bool keeps_bytes() const override { return false; }

  Extent output(Extent in) const override {
    if (!options_.size) return in;
    return {in.channels, options_.size->rows(), options_.size->columns()};
  }

 private:
  FastaiPose draw_pose(const Image& image, Stream& random) const {
    const auto& o = options_;
    FastaiPose drawn;
    if (o.do_flip && random.uniform() < 0.5)
      drawn.dihedral = o.flip_vert ? static_cast<int>(random.below(8)) : 1;
    drawn.warp_x = around_zero(o.max_warp, random);
    drawn.warp_y = around_zero(o.max_warp, random);
    drawn.degrees = around_zero(o.max_rotate, random);
    if (random.uniform() < o.p_affine) {
      drawn.zoom = random.uniform(o.min_zoom, o.max_zoom);
      drawn.zoom_x = random.uniform();
      drawn.zoom_y = random.uniform();
    }
    if (o.min_scale < 1) drawn.crop = draw_crop(image, random);
    return drawn;
  }

  double around_zero(double most, Stream& random) const {
    return random.uniform() < options_.p_affine ? random.uniform(-most, most) : 0;
  }

  /// RandomResizedCropGPU with ratio 1; all of an image that is too long for any.
  Box draw_crop(const Image& image, Stream& random) const {
    const double area = double(image.width) * image.height;
    for (int tries = 0; tries < 10; ++tries) {
      const double share = random.uniform(options_.min_scale, 1);
      const int side = static_cast<int>(std::nearbyint(std::sqrt(share * area)));
      if (side > image.width || side > image.height) continue;
      return {draw_offset(image.width - side, random), draw_offset(image.height - side, random),
              side, side};
    }
    const int side = std::min(image.width, image.height);
    return {(image.width - side) / 2, (image.height - side) / 2, side, side};
  }

  static int draw_offset(int most, Stream& random) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(most) + 1));
  }

  FastaiLight draw_light(Stream& random) const {
    const double most = options_.max_lighting;
    FastaiLight drawn;
    if (random.uniform() < options_.p_lighting)
      drawn.brightness = 0.5 * random.uniform(1 - most, 1 + most);
    drawn.contrast = factor(most, random);
    drawn.saturation = factor(options_.max_saturation, random);
    return drawn;
  }

  /// fastai adds a number around 1 to the hue, which is a circle of length 1.
  double hue(Stream& random) const { return factor(options_.max_hue, random) - 1; }

  double factor(double most, Stream& random) const {
    if (random.uniform() >= options_.p_lighting) return 1;
    const double end = -std::log(1 - most);
    return std::exp(random.uniform(-end, end));
  }

  Options options_;
};

void FastaiAugment::Options::fields(Fields& f) {
  f("mult", mult, {.doc = "Factor of max_rotate, max_lighting and max_warp.", .min = 0});
  f("do_flip", do_flip, {.doc = "Mirrors left and right half of the time."});
  f("flip_vert", flip_vert,
    {.doc = "All eight turns and mirror images of a square instead, half of the time."});
  f("max_rotate", max_rotate,
    {.doc = "Largest angle in degrees, either way.", .min = 0, .max = 360, .unit = "degrees"});
  f("min_zoom", min_zoom, {.doc = "Least zoom.", .min = 0, .above_min = true});
  f("max_zoom", max_zoom, {.doc = "Largest zoom.", .min = 0, .above_min = true});
  f("max_lighting", max_lighting,
    {.doc = "Largest change of brightness and contrast.", .min = 0, .max = 1, .below_max = true});
  f("max_warp", max_warp, {.doc = "Largest tilt.", .min = 0, .max = 0.5});
  f("p_affine", p_affine,
    {.doc = "How likely each of turn, zoom and tilt is.", .min = 0, .max = 1});
  f("p_lighting", p_lighting,
    {.doc = "How likely each change of light or color is.", .min = 0, .max = 1});
  f("max_saturation", max_saturation,
    {.doc = "Largest change of saturation (fastai's Saturation).",
     .min = 0,
     .max = 1,
     .below_max = true});
  f("max_hue", max_hue, {.doc = "Largest turn of the hue (fastai's Hue).", .min = 0, .max = 0.3});
  f("size", size, {.doc = "What comes out: one number for a square, or height and width."});
  f("min_scale", min_scale,
    {.doc = "Least share of the image's area that is cropped before it is brought to `size`.",
     .min = 0,
     .max = 1,
     .above_min = true});
  f("mode", mode, {.doc = "How pixels between pixels are made."});
  f("pad_mode", pad_mode, {.doc = "What lies beyond the image's edges."});
  f.require(needs("flip_vert", "do_flip"));
  f.require(at_most("min_zoom", "max_zoom"));
  f.require(needs(is_not("min_scale", "1"), "size"));
  f.require(product_below("mult", "max_lighting", 1));
  f.require(product_at_most("mult", "max_warp", 0.5));
}

}  // namespace

Entry<Transform> fastai_augment() {
  return entry_of<Transform, FastaiAugment>(
      "fastai_augment",
      "Flips, tilts, turns, zooms and relights an image at random, as fastai's aug_transforms; for "
      "before normalize.",
      {"random", "before_normalize", "gives_size"});
}

}  // namespace ddptrain
