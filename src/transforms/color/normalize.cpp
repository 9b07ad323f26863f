#include "transforms/color/normalize.h"

#include "base/names.h"

namespace ddptrain {
namespace {

enum class Preset { imagenet, cifar10, mnist };

std::span<const std::string_view> names(Preset) {
  return kNameList<"imagenet", "cifar10", "mnist">;
}

struct Statistics {
  std::vector<double> mean, deviation;
};

Statistics statistics(Preset preset) {
  switch (preset) {
    case Preset::imagenet:
      return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
    case Preset::cifar10:
      return {{0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}};
    case Preset::mnist:
      break;
  }
  return {{0.1307}, {0.3081}};
}

struct NormalizeOptions {
  std::optional<Preset> preset;
  std::vector<double> mean, std;
  void fields(Fields& f) {
    f("preset", preset,
      {.doc = "The statistics of a well-known data set, instead of both lists.",
       .example = "imagenet"});
    f("mean", mean, {.doc = "Mean of each channel, of pixels in 0 to 1.", .max_items = 3});
    f("std", std,
      {.doc = "Standard deviation of each channel.", .min = 0, .above_min = true, .max_items = 3});
    f.require(exactly_one({"preset", "mean"}));
    f.require(not_both("preset", "std"));
    f.require(as_many("mean", "std"));
  }
};

std::unique_ptr<Transform> build(const NormalizeOptions& options) {
  if (!options.preset) return std::make_unique<Normalize>(options.mean, options.std);
  auto [mean, deviation] = statistics(*options.preset);
  return std::make_unique<Normalize>(std::move(mean), std::move(deviation));
}

}  // namespace

Normalize::Normalize(std::vector<double> mean, std::vector<double> deviation)
    : mean_(std::move(mean)), deviation_(std::move(deviation)) {}

ChannelScale Normalize::scale(const Image& image) const {
  if (mean_.size() != 1 && mean_.size() != std::size_t(image.channels))
    throw Error(Exit::recipe, Option{"data.transforms"},
                "normalize: statistics of {} channels, but images have {}", mean_.size(),
                image.channels);
  ChannelScale scale;
  for (int c = 0; c < image.channels; ++c) {
    const std::size_t from = mean_.size() == 1 ? 0 : c;
    const double unit = image.is_float() ? 1 : 255;
    scale.factor[c] = static_cast<float>(1 / (unit * deviation_[from]));
    scale.offset[c] = static_cast<float>(-mean_[from] / deviation_[from]);
  }
  return scale;
}

void Normalize::apply(Image& image, Stream&) const {
  std::vector<float> values(image.values());
  write_pixels(image, scale(image), PixelOrder::hwc, values.data());
  image.floats = std::move(values);
  image.bytes.clear();
}

Entry<Transform> normalize() {
  return entry<Transform, NormalizeOptions>(
      "normalize", "Brings each channel to mean 0 and deviation 1, from pixels in 0 to 1.", build,
      {"normalizes"});
}

}  // namespace ddptrain
