// Options that several transforms share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "config/fields.h"
#include "transforms/geometry.h"

namespace ddptrain {

/// `size: 64`, or `size: {height: 48, width: 80}`.
struct SizeOption {
  static constexpr std::string_view shorthand = "side";
  std::optional<std::int64_t> side;
  std::optional<std::int64_t> height;
  std::optional<std::int64_t> width;
  void fields(Fields& f);
  /// Throws unless either side, or both height and width are given.
  void require(std::string_view transform) const;
  int rows() const { return static_cast<int>(side ? *side : *height); }
  int columns() const { return static_cast<int>(side ? *side : *width); }
};

/// `padding: 4`, or each side by itself.
struct PaddingOption {
  static constexpr std::string_view shorthand = "all";
  std::int64_t all = 0;
  std::optional<std::int64_t> left, top, right, bottom;
  void fields(Fields& f);
  Borders borders() const;
};

/// A number d for a range around the neutral value (1 - d .. 1 + d, for hue -d .. d), or
/// `{range: [low, high]}`.
struct AmountOption {
  static constexpr std::string_view shorthand = "amount";
  double amount = 0;
  std::vector<double> range;
  void fields(Fields& f);
  bool given() const { return amount != 0 || !range.empty(); }
};

/// Throws an Error (Exit::recipe) unless a list is a range: two numbers in ascending order.
void require_range(const std::vector<double>& range, std::string_view option);

}  // namespace ddptrain
