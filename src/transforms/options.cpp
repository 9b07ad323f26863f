#include "transforms/options.h"

#include <string>

#include "base/error.h"

namespace ddptrain {

std::span<const std::string_view> names(WarpLookup) { return names(Interpolation{}).first(2); }

void SizeOption::fields(Fields& f) {
  f("side", side,
    {.doc = "Pixels of one side.", .min = 1, .max = 65535, .unit = "px", .example = "224"});
  f("sides", sides,
    {.doc = "Height and width in pixels.", .min = 1, .max = 65535, .unit = "px", .max_items = 2});
}

void SizeOption::require(std::string_view transform) const {
  if (side ? sides.empty() : sides.size() == 2) return;
  throw Error(Exit::recipe, std::string(transform) +
                                ": size is one number, or height and width, such as [48, 80]");
}

void PaddingOption::fields(Fields& f) {
  f("all", all, {.doc = "Pixels on every side.", .min = 0, .max = 65535, .unit = "px"});
  f("sides", sides,
    {.doc = "Pixels left, above, right and below.",
     .min = 0,
     .max = 65535,
     .unit = "px",
     .max_items = 4});
}

Borders PaddingOption::borders(std::string_view transform) const {
  const auto side = [this](std::size_t i) { return static_cast<int>(sides[i % sides.size()]); };
  if (sides.empty()) {
    const int pixels = static_cast<int>(all);
    return {pixels, pixels, pixels, pixels};
  }
  if (sides.size() == 3)
    throw Error(Exit::recipe,
                std::string(transform) + ": padding is one number, or left, top, right and bottom");
  return {side(0), side(1), side(2), side(3)};
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
