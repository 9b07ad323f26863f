#include "transforms/options.h"

#include <string>

#include "base/error.h"

namespace ddptrain {

void SizeOption::fields(Fields& f) {
  f("side", side, {.doc = "Pixels of one side.", .min = 1, .max = 65535});
  f("height", height, {.doc = "Pixels from top to bottom, with `width`.", .min = 1, .max = 65535});
  f("width", width, {.doc = "Pixels from left to right, with `height`.", .min = 1, .max = 65535});
}

void SizeOption::require(std::string_view transform) const {
  const bool both = height && width, neither = !height && !width;
  if (side ? neither : both) return;
  throw Error(Exit::recipe, std::string(transform) +
                                ": size is one number, or a map with both 'height' and 'width'");
}

void PaddingOption::fields(Fields& f) {
  f("all", all, {.doc = "Pixels on every side.", .min = 0, .max = 65535});
  f("left", left, {.doc = "Pixels on the left; null is `all`.", .min = 0, .max = 65535});
  f("top", top, {.doc = "Pixels above; null is `all`.", .min = 0, .max = 65535});
  f("right", right, {.doc = "Pixels on the right; null is `all`.", .min = 0, .max = 65535});
  f("bottom", bottom, {.doc = "Pixels below; null is `all`.", .min = 0, .max = 65535});
}

Borders PaddingOption::borders() const {
  const auto side = [this](const std::optional<std::int64_t>& given) {
    return static_cast<int>(given.value_or(all));
  };
  return {side(left), side(top), side(right), side(bottom)};
}

void AmountOption::fields(Fields& f) {
  f("amount", amount, {.doc = "Half the width of the range around the neutral value.", .min = 0});
  f("range", range, {.doc = "Lowest and highest value instead.", .max_items = 2});
}

void require_range(const std::vector<double>& range, std::string_view option) {
  if (range.size() == 2 && range[0] <= range[1]) return;
  throw Error(Exit::recipe, std::string(option) + " wants two numbers, the lower one first");
}

}  // namespace ddptrain
