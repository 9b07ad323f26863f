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
  /// Throws unless one of the two is given.
  void require(std::string_view transform) const;
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
  /// Throws unless there are one, two (left and right; top and bottom) or four sides.
  Borders borders(std::string_view transform) const;
};

/// A number d for a range around the neutral value (1 - d .. 1 + d, for hue -d .. d), or the range
/// itself: `[0.8, 1.2]`.
struct AmountOption {
  static constexpr std::string_view shorthand = "amount";
  static constexpr std::string_view list_shorthand = "range";
  double amount = 0;
  std::vector<double> range;
  void fields(Fields& f);
  bool given() const { return amount != 0 || !range.empty(); }
};

/// How pixels between pixels are made where a picture is moved about.
enum class WarpLookup { nearest, bilinear };
std::span<const std::string_view> names(WarpLookup);

/// Throws an Error (Exit::recipe) unless a list is a range: two numbers in ascending order.
void require_range(const std::vector<double>& range, std::string_view option);

}  // namespace ddptrain
