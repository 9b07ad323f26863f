#include "sources/table/date.h"

#include <array>
#include <chrono>

#include "base/text.h"

namespace ddptrain {
namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr std::array<std::string_view, 12> kMonths{"january",   "february", "march",    "april",
                                                   "may",       "june",     "july",     "august",
                                                   "september", "october",  "november", "december"};
constexpr std::string_view kDirectives = "YymdbBHIMSpf%";

/// A text from which a date is taken from left to right.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(trim(text)) {}

  bool read(std::string_view format) {
    while (!format.empty()) {
      const bool is_directive = format.size() > 1 && format[0] == '%';
      if (!(is_directive ? directive(format[1]) : sign(format[0]))) return false;
      format.remove_prefix(is_directive ? 2 : 1);
    }
    return true;
  }

  /// "T17:05", with seconds and a zone of 0 where they are there.
  bool read_time() {
    if (text_.empty()) return true;
    if (!(sign(' ') || sign('T')) || !read("%H:%M")) return false;
    if (sign(':') && !read("%S")) return false;
    if (sign('.') && !directive('f')) return false;
    if (text_ == "Z" || text_ == "+00:00" || text_ == "+0000") text_ = {};
    return true;
  }

  std::optional<DateTime> result() const {
    auto date = date_;
    if (date.hour < 0 || !text_.empty()) return {};
    if (afternoon_) {
      if (date.hour < 1 || date.hour > 12) return {};
      date.hour = date.hour % 12 + (*afternoon_ ? 12 : 0);
    }
    const year_month_day calendar(year(date.year), month(static_cast<unsigned>(date.month)),
                                  day(static_cast<unsigned>(date.day)));
    const bool is_time = date.hour < 24 && date.minute < 60 && date.second < 60;
    return calendar.ok() && date.year > 0 && is_time ? std::optional(date) : std::nullopt;
  }

 private:
  bool sign(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool digits(std::size_t least, std::size_t most, int& value) {
    std::size_t count = 0;
    int read = 0;
    while (count < most && count < text_.size() && text_[count] >= '0' && text_[count] <= '9')
      read = 10 * read + (text_[count++] - '0');
    if (count < least) return false;
    text_.remove_prefix(count);
    value = read;
    return true;
  }

  bool year_of_two_digits() {
    if (!digits(2, 2, date_.year)) return false;
    date_.year += date_.year < 69 ? 2000 : 1900;
    return true;
  }

  bool directive(char c) {
    int unused = 0;
    switch (c) {
      case 'Y':
        return digits(4, 4, date_.year);
      case 'y':
        return year_of_two_digits();
      case 'm':
        return digits(1, 2, date_.month);
      case 'd':
        return digits(1, 2, date_.day);
      case 'b':
      case 'B':
        return month_name();
      case 'H':
      case 'I':
        return digits(1, 2, date_.hour);
      case 'M':
        return digits(2, 2, date_.minute);
      case 'S':
        return digits(2, 2, date_.second);
      case 'f':
        return digits(1, 9, unused);
      case 'p':
        return half_of_day();
      default:
        return c == '%' && sign('%');
    }
  }

  bool month_name() {
    const auto name = lower(text_.substr(0, text_.find_first_of(" .,-/")));
    for (std::size_t i = 0; i < kMonths.size(); ++i)
      if (name == kMonths[i] || name == kMonths[i].substr(0, 3)) {
        date_.month = static_cast<int>(i) + 1;
        text_.remove_prefix(name.size());
        return true;
      }
    return false;
  }

  bool half_of_day() {
    const auto word = lower(text_.substr(0, 2));
    if (word != "am" && word != "pm") return false;
    afternoon_ = word == "pm";
    text_.remove_prefix(2);
    return true;
  }

  std::string_view text_;
  DateTime date_;
  std::optional<bool> afternoon_;
};

sys_days date_of(const DateTime& date) {
  return year_month_day(year(date.year), month(static_cast<unsigned>(date.month)),
                        day(static_cast<unsigned>(date.day)));
}
std::int64_t day_of_week(const DateTime& date) {
  return std::chrono::weekday(date_of(date)).iso_encoding() - 1;
}
std::int64_t day_of_year(const DateTime& date) {
  return (date_of(date) - date_of({date.year, 1, 1})).count() + 1;
}
/// The week of ISO 8601 is that of its Thursday.
std::int64_t week(const DateTime& date) {
  const year_month_day thursday = date_of(date) + days(3 - day_of_week(date));
  const auto first = sys_days(thursday.year() / 1 / 1);
  return (sys_days(thursday) - first).count() / 7 + 1;
}
bool ends_month(const DateTime& date) {
  return year_month_day(date_of(date) + days(1)).day() == day(1);
}
std::int64_t seconds_since_1970(const DateTime& date) {
  return std::int64_t{date_of(date).time_since_epoch().count()} * 86400 + date.hour * 3600 +
         date.minute * 60 + date.second;
}

}  // namespace

std::optional<DateTime> parse_date(std::string_view text, std::string_view format) {
  DateReader reader(text);
  const bool read =
      format.empty() ? reader.read("%Y-%m-%d") && reader.read_time() : reader.read(format);
  return read ? reader.result() : std::nullopt;
}

std::string unknown_directive(std::string_view format) {
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (i + 1 == format.size()) return "%";
    if (kDirectives.find(format[++i]) == std::string_view::npos) return {'%', format[i]};
  }
  return {};
}

std::span<const DatePart> date_parts() {
  using D = const DateTime&;
  static constexpr std::array<DatePart, 16> parts{
      {{"Year", false, false, [](D d) { return std::int64_t{d.year}; }},
       {"Month", true, false, [](D d) { return std::int64_t{d.month}; }},
       {"Week", false, false, [](D d) { return week(d); }},
       {"Day", false, false, [](D d) { return std::int64_t{d.day}; }},
       {"Dayofweek", true, false, [](D d) { return day_of_week(d); }},
       {"Dayofyear", false, false, [](D d) { return day_of_year(d); }},
       {"Is_month_end", true, false, [](D d) { return std::int64_t{ends_month(d)}; }},
       {"Is_month_start", true, false, [](D d) { return std::int64_t{d.day == 1}; }},
       {"Is_quarter_end", true, false,
        [](D d) { return std::int64_t{ends_month(d) && d.month % 3 == 0}; }},
       {"Is_quarter_start", true, false,
        [](D d) { return std::int64_t{d.day == 1 && d.month % 3 == 1}; }},
       {"Is_year_end", true, false, [](D d) { return std::int64_t{d.day == 31 && d.month == 12}; }},
       {"Is_year_start", true, false, [](D d) { return std::int64_t{d.day == 1 && d.month == 1}; }},
       {"Hour", false, true, [](D d) { return std::int64_t{d.hour}; }},
       {"Minute", false, true, [](D d) { return std::int64_t{d.minute}; }},
       {"Second", false, true, [](D d) { return std::int64_t{d.second}; }},
       {"Elapsed", false, false, [](D d) { return seconds_since_1970(d); }}}};
  return parts;
}

std::string date_prefix(std::string column) {
  if (column.ends_with("date") || column.ends_with("Date")) column.resize(column.size() - 4);
  return column;
}

}  // namespace ddptrain
