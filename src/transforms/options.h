// Options that several transforms share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "config/fields.h"
#include "transforms/geometry.h"

namespace ddptrain {

/// `size: 64`, or height and width: `size: [48, 80]`.
struct SizeOption {
  static constexpr std::string_view shorthand = "side";
  static constexpr std::string_view list_shorthand = "sides";
  std::optional<std::int64_t> side;
  std::vector<std::int64_t> sides;
  void fields(Fields& f);
  int rows() const { return static_cast<int>(side ? *side : sides.front()); }
  int columns() const { return static_cast<int>(side ? *side : sides.back()); }
};

/// `padding: 4`, or left, top, right and bottom: `padding: [4, 0, 4, 0]`.
struct PaddingOption {
  static constexpr std::string_view shorthand = "all";
  static constexpr std::string_view list_shorthand = "sides";
  std::int64_t all = 0;
  std::vector<std::int64_t> sides;
  void fields(Fields& f);
  /// Of one side for all, two (left and right; top and bottom) or four.
  Borders borders() const;
};

/// A number d for a range of factors, 1 - d .. 1 + d, or the range itself: `[0.8, 1.2]`.
struct AmountOption {
  static constexpr std::string_view shorthand = "amount";
  static constexpr std::string_view list_shorthand = "range";
  double amount = 0;
  std::vector<double> range;
  void fields(Fields& f);
  bool given() const { return amount != 0 || !range.empty(); }

 protected:
  /// For amounts up to `most` and ranges from `low` to `high`.
  void within(Fields& f, double most, double low, double high);
};

/// A share of a circle, at most half: a number d for -d .. d, or the range itself.
struct TurnOption : AmountOption {
  void fields(Fields& f);
};

/// How pixels between pixels are made where an image is moved about.
enum class WarpLookup { nearest, bilinear };
std::span<const std::string_view> names(WarpLookup);

}  // namespace ddptrain
