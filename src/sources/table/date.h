// Dates as text, and what fastai's add_datepart makes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ddptrain {

struct DateTime {
  int year = 1970, month = 1, day = 1;
  int hour = 0, minute = 0, second = 0;
};

/// Reads the whole of a text, blanks around it allowed. `format` has the directives of C's strptime
/// %Y %y %m %d %b %B %H %I %M %S %p, %f for a fraction of a second, which is not kept, and %%;
/// empty stands for ISO 8601: "2024-03-31", or that and " 17:05", "T17:05:00", "T17:05:00.5Z".
/// Nothing where the text is no such date, or the calendar has none of it.
std::optional<DateTime> parse_date(std::string_view text, std::string_view format);
/// The first directive of a format that parse_date does not know, "%q"; empty where it knows all.
std::string unknown_directive(std::string_view format);

/// A number that a date has, named as fastai.tabular.core.add_datepart does.
struct DatePart {
  std::string_view name;
  bool category = false;
  bool of_time = false;
  std::int64_t (*value)(const DateTime&) = nullptr;
};
/// In fastai's order. Weeks are those of ISO 8601, days of the week count from 0, Monday; Elapsed
/// are seconds since 1970.
std::span<const DatePart> date_parts();

/// What stands before the names of the parts: the column's name without "date" at its end.
std::string date_prefix(std::string column);

}  // namespace ddptrain
