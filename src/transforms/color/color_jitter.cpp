// Brightness, contrast, saturation and hue at random: torchvision.transforms.v2.ColorJitter.
#include <algorithm>
#include <array>

#include "base/names.h"
#include "transforms/color/color.h"
#include "transforms/options.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

enum class Adjustment { brightness, contrast, saturation, hue };

std::span<const std::string_view> names(Adjustment) {
  return kNameList<"brightness", "contrast", "saturation", "hue">;
}

class ColorJitter final : public Transform {
 public:
  struct Options {
    AmountOption brightness, contrast, saturation;
    TurnOption hue;
    std::vector<Adjustment> order;
    void fields(Fields& f) {
      f("brightness", brightness, {.doc = "Factor of the brightness: 0.4 draws from 0.6 to 1.4."});
      f("contrast", contrast, {.doc = "Factor of the contrast: 0.4 draws from 0.6 to 1.4."});
      f("saturation", saturation, {.doc = "Factor of the saturation: 0.4 draws from 0.6 to 1.4."});
      f("hue", hue, {.doc = "Turn of the hue: 0.1 draws from -0.1 to 0.1 of a circle."});
      f("order", order,
        {.doc = "The order of the four; empty for a random one.", .items = ItemOrder::distinct});
    }
  };

  explicit ColorJitter(const Options& options) : order_(options.order) {
    ranges_ = {factors(options.brightness), factors(options.contrast), factors(options.saturation),
               turns(options.hue)};
  }

  void apply(Image& image, Stream& random) const override {
    std::array<Adjustment, 4> order{Adjustment::brightness, Adjustment::contrast,
                                    Adjustment::saturation, Adjustment::hue};
    for (std::size_t i = 3; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    std::array<double, 4> by;
    for (int i = 0; i < 4; ++i)
      by[i] = ranges_[i] ? random.uniform(ranges_[i]->low, ranges_[i]->high) : 0;
    const std::span<const Adjustment> chosen =
        order_.empty() ? std::span<const Adjustment>(order) : order_;
    for (Adjustment what : chosen)
      if (ranges_[int(what)]) adjust(image, what, by[int(what)]);
  }

 private:
  struct Range {
    double low, high;
  };

  static std::optional<Range> factors(const AmountOption& option) {
    if (!option.given()) return {};
    if (option.range.empty()) return Range{std::max(0.0, 1 - option.amount), 1 + option.amount};
    return Range{option.range[0], option.range[1]};
  }

  static std::optional<Range> turns(const TurnOption& option) {
    if (!option.given()) return {};
    if (option.range.empty()) return Range{-option.amount, option.amount};
    return Range{option.range[0], option.range[1]};
  }

  static void adjust(Image& image, Adjustment what, double by) {
    switch (what) {
      case Adjustment::brightness:
        return adjust_brightness(image, by);
      case Adjustment::contrast:
        return adjust_contrast(image, by);
      case Adjustment::saturation:
        return adjust_saturation(image, by);
      case Adjustment::hue:
        return adjust_hue(image, by);
    }
  }

  std::array<std::optional<Range>, 4> ranges_;
  std::vector<Adjustment> order_;
};

}  // namespace

Entry<Transform> color_jitter() {
  return entry_of<Transform, ColorJitter>(
      "color_jitter", "Changes brightness, contrast, saturation and hue at random.",
      {"random", "before_normalize"});
}

}  // namespace ddptrain
