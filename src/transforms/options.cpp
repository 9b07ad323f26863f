#include "transforms/options.h"

#include <limits>

namespace ddptrain {

std::span<const std::string_view> names(WarpLookup) { return names(Interpolation{}).first(2); }

void SizeOption::fields(Fields& f) {
  f("side", side,
    {.doc = "Pixels of one side.", .min = 1, .max = 65535, .unit = "px", .example = "224"});
  f("sides", sides,
    {.doc = "Height and width in pixels.",
     .min = 1,
     .max = 65535,
     .unit = "px",
     .lengths = {0, 2}});
  f.require(exactly_one({"side", "sides"}));
}

void PaddingOption::fields(Fields& f) {
  f("all", all, {.doc = "Pixels on every side.", .min = 0, .max = 65535, .unit = "px"});
  f("sides", sides,
    {.doc = "Pixels left, above, right and below.",
     .min = 0,
     .max = 65535,
     .unit = "px",
     .lengths = {0, 1, 2, 4}});
  f.require(not_both("all", "sides"));
}

Borders PaddingOption::borders() const {
  const auto side = [this](std::size_t i) { return static_cast<int>(sides[i % sides.size()]); };
  if (!sides.empty()) return {side(0), side(1), side(2), side(3)};
  const int pixels = static_cast<int>(all);
  return {pixels, pixels, pixels, pixels};
}

void AmountOption::within(Fields& f, double most, double low, double high) {
  f("amount", amount,
    {.doc = "Half the width of the range around the neutral value.", .min = 0, .max = most});
  f("range", range,
    {.doc = "Lowest and highest value instead.",
     .min = low,
     .max = high,
     .lengths = {0, 2},
     .items = ItemOrder::ascending});
  f.require(not_both("amount", "range"));
}

void AmountOption::fields(Fields& f) {
  constexpr auto any = std::numeric_limits<double>::infinity();
  within(f, any, 0, any);
}

void TurnOption::fields(Fields& f) { within(f, 0.5, -0.5, 0.5); }

}  // namespace ddptrain
