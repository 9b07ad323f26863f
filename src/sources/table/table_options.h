// What a recipe says of a table: its columns, what is missing, which rows are held out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "sources/split/valid_rows.h"

namespace ddptrain {

enum class Fill { median, constant, mode };
enum class TableTask { automatic, classification, regression };
/// What a name becomes that only held-out rows have: like a missing one, a class of its own (as
/// fastai does, whose classes are those of all rows), or an Error.
enum class Unseen { missing, own_class, error };
std::span<const std::string_view> names(Fill);
std::span<const std::string_view> names(TableTask);
std::span<const std::string_view> names(Unseen);

/// `target: price`, or `target: [price, area]`.
struct TargetColumns {
  static constexpr std::string_view shorthand = "column";
  static constexpr std::string_view list_shorthand = "columns";
  std::optional<std::string> column;
  std::vector<std::string> columns;
  void fields(Fields& f);

  /// Whether targets are a list: columns of numbers, which may be missing.
  bool listed() const { return !column; }
  std::vector<std::string> names() const;
};

/// `dates: [sold]`, or `dates: [{column: sold, format: "%d.%m.%Y"}]`.
struct DateColumn {
  static constexpr std::string_view shorthand = "column";
  std::string column;
  Auto<std::string> format;
  bool time = false;
  void fields(Fields& f);
};

struct TableOptions {
  std::string file;
  TargetColumns target;
  TableTask task = TableTask::automatic;
  Auto<std::vector<std::string>> categories;
  Auto<std::vector<std::string>> continuous;
  std::vector<DateColumn> dates;
  std::vector<std::string> drop;
  Auto<std::vector<std::string>> missing;
  Unseen unseen = Unseen::missing;
  Fill fill = Fill::median;
  double fill_value = 0;
  bool add_na = true;
  bool normalize = true;
  ValidRows valid;
  void fields(Fields& f);

  /// Spellings of a missing value.
  const std::vector<std::string>& missing_spellings() const;
};

/// The option `missing`, which every table has.
void missing_field(Fields& f, Auto<std::vector<std::string>>& missing);

}  // namespace ddptrain
