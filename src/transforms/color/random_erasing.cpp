#include "transforms/color/random_erasing.h"

#include <cmath>

#include "transforms/options.h"

namespace ddptrain {
namespace {

void fill_with_noise(Image& image, const Box& box, Stream& random) {
  std::vector<double> values(image.channels);
  for (int y = 0; y < box.height; ++y)
    for (int x = 0; x < box.width; ++x) {
      for (double& value : values) value = random.normal();
      erase(image, {box.left + x, box.top + y, 1, 1}, values);
    }
}

}  // namespace

void RandomErasing::Options::fields(Fields& f) {
  f("p", p, {.doc = "Probability that a box is erased.", .min = 0, .max = 1});
  f("scale", scale,
    {.doc = "Least and greatest share of the image's area.",
     .min = 0,
     .max = 1,
     .min_items = 2,
     .max_items = 2,
     .items = ItemOrder::ascending});
  f("ratio", ratio,
    {.doc = "Least and greatest height by width of the box.",
     .min = 0,
     .above_min = true,
     .min_items = 2,
     .max_items = 2,
     .items = ItemOrder::ascending});
  f("value", value,
    {.doc = "One value for all channels or one for each, in the unit that pixels have then.",
     .lengths = {1, 3}});
  f("noise", noise, {.doc = "Fill with normal noise instead; for after normalize."});
  f("max_count", max_count,
    {.doc = "Up to so many boxes that share the area (fastai's RandomErasing).", .min = 1});
}

int RandomErasing::draw_count(Stream& random) const {
  if (random.uniform() >= options_.p) return 0;
  const auto most = static_cast<std::uint64_t>(options_.max_count);
  return most > 1 ? 1 + static_cast<int>(random.below(most)) : 1;
}

std::vector<Box> RandomErasing::boxes(int width, int height, Stream& random) const {
  std::vector<Box> drawn;
  const int most = draw_count(random);
  for (int i = 0; i < most; ++i)
    if (Box box; draw(width, height, most, random, box)) drawn.push_back(box);
  return drawn;
}

void RandomErasing::apply(Image& image, Stream& random) const {
  if (options_.noise) {
    const int most = draw_count(random);
    for (int i = 0; i < most; ++i)
      if (Box box; draw(image.width, image.height, most, random, box))
        fill_with_noise(image, box, random);
    return;
  }
  for (const auto& box : boxes(image.width, image.height, random)) {
    if (options_.value.size() > 1 && options_.value.size() != std::size_t(image.channels))
      throw Error(Exit::recipe, Option{"data.transforms"},
                  "random_erasing: value has {} numbers, images have {} channels",
                  options_.value.size(), image.channels);
    erase(image, box, options_.value);
  }
}

bool RandomErasing::draw(int width, int height, int count, Stream& random, Box& box) const {
  const double area = double(width) * height / count;
  const double low = std::log(options_.ratio[0]), high = std::log(options_.ratio[1]);
  for (int tries = 0; tries < 10; ++tries) {
    const double share = area * random.uniform(options_.scale[0], options_.scale[1]);
    const double aspect = std::exp(random.uniform(low, high));
    box.height = static_cast<int>(std::nearbyint(std::sqrt(share * aspect)));
    box.width = static_cast<int>(std::nearbyint(std::sqrt(share / aspect)));
    if (box.height >= height || box.width >= width) continue;
    box.top = static_cast<int>(random.below(height - box.height + 1));
    box.left = static_cast<int>(random.below(width - box.width + 1));
    return true;
  }
  return false;
}

Entry<Transform> random_erasing() {
  return entry_of<Transform, RandomErasing>("random_erasing", "Blots out a random box.",
                                            {"random"});
}

}  // namespace ddptrain
