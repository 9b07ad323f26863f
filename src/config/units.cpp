#include "config/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "config/scalar.h"

namespace ddptrain {
namespace {

using Unit = Duration::Unit;

/// A number with a unit, "30 s"; texts hold several: "1 h 30 min".
struct Amount {
  double number = 0;
  std::string unit;  // empty: a bare number
};

bool is_blank(char c) { return c == ' '; }

/// Splits into amounts; nothing when it is not of that form. Numbers follow scalar.h.
std::vector<Amount> read_amounts(std::string_view text) {
  std::vector<Amount> amounts;
  text = trim(text);
  while (!text.empty()) {
    std::size_t end = 0;
    const auto in_number = [&](std::size_t i) {
      const bool exponent = i > 0 && i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E') &&
                            (std::isdigit(static_cast<unsigned char>(text[i + 1])) ||
                             text[i + 1] == '-' || text[i + 1] == '+');
      const bool sign = (text[i] == '-' || text[i] == '+') &&
                        (i == 0 || text[i - 1] == 'e' || text[i - 1] == 'E');
      return std::isdigit(static_cast<unsigned char>(text[i])) || text[i] == '.' || exponent ||
             sign;
    };
    while (end < text.size() && in_number(end)) ++end;
    std::string why;
    const auto number = read_number(Node::scalar(std::string(text.substr(0, end))), why);
    if (!number) return {};
    text = trim(text.substr(end));
    end = 0;
    while (end < text.size() && !is_blank(text[end]) &&
           !std::isdigit(static_cast<unsigned char>(text[end])))
      ++end;
    amounts.push_back({*number, std::string(text.substr(0, end))});
    text = trim(text.substr(end));
  }
  return amounts;
}

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<TimeUnit, 14> time_units{{{"ms", 0.001},
                                               {"s", 1},
                                               {"sec", 1},
                                               {"second", 1},
                                               {"seconds", 1},
                                               {"min", 60},
                                               {"minute", 60},
                                               {"minutes", 60},
                                               {"h", 3600},
                                               {"hour", 3600},
                                               {"hours", 3600},
                                               {"d", 86400},
                                               {"day", 86400},
                                               {"days", 86400}}};

std::optional<double> seconds_of(std::string_view unit) {
  for (const auto& known : time_units)
    if (known.name == unit) return known.seconds;
  return {};
}

std::optional<Unit> unit_of(std::string_view unit) {
  if (unit == "epoch" || unit == "epochs") return Unit::epochs;
  if (unit == "step" || unit == "steps") return Unit::steps;
  if (unit == "sample" || unit == "samples") return Unit::samples;
  if (unit == "%") return Unit::share;
  if (seconds_of(unit)) return Unit::seconds;
  return {};
}

const std::vector<std::string>& duration_words() {
  static const std::vector<std::string> words{"epochs", "steps", "samples", "s", "min", "h", "%"};
  return words;
}

std::string unknown_unit(const std::string& unit, const std::vector<std::string>& words) {
  return fmt::format("'{}' is not a unit{}", unit,
                     did_you_mean(nearest(unit, words), "; one of " + join(words, ", ")));
}

bool refuse(std::string& why, std::string message) {
  why = std::move(message);
  return false;
}

/// Several amounts are one time ("1 h 30 min"); anything else has one.
bool add_times(const std::vector<Amount>& amounts, Duration& value, std::string& why) {
  double seconds = 0;
  for (const auto& amount : amounts) {
    const auto unit = seconds_of(amount.unit);
    if (!unit) return refuse(why, "only times have several parts, as in '1 h 30 min'");
    if (amount.number < 0) return refuse(why, "a duration must be above 0");
    seconds += amount.number * *unit;
  }
  value = {seconds, Unit::seconds};
  return true;
}

bool check_count(const Duration& value, std::string& why) {
  const bool whole = value.unit == Unit::steps || value.unit == Unit::samples;
  if (!(value.count > 0)) return refuse(why, "a duration must be above 0");
  if (value.unit == Unit::share && value.count > 1)
    return refuse(why, "a share of the run is at most 100 %");
  if (whole && (std::trunc(value.count) != value.count || value.count > 0x1p53))
    return refuse(why, "steps and samples are whole numbers");
  return true;
}

/// Bytes of a unit of size, 0 when it is none.
double bytes_of(std::string_view unit) {
  constexpr std::array<std::string_view, 5> binary{"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr std::array<std::string_view, 5> decimal{"B", "kB", "MB", "GB", "TB"};
  for (std::size_t i = 0; i < binary.size(); ++i) {
    if (unit == binary[i]) return std::pow(1024.0, i);
    if (unit == decimal[i]) return std::pow(1000.0, i);
  }
  return 0;
}

}  // namespace

Duration epochs(double count) { return {count, Unit::epochs}; }
Duration steps(double count) { return {count, Unit::steps}; }

std::string to_text(const Duration& duration) {
  const auto number = format_number(duration.count);
  const bool one = duration.count == 1;
  switch (duration.unit) {
    case Unit::epochs:
      return number + (one ? " epoch" : " epochs");
    case Unit::steps:
      return number + (one ? " step" : " steps");
    case Unit::samples:
      return number + (one ? " sample" : " samples");
    case Unit::share:
      return format_number(duration.count * 100) + " %";
    case Unit::seconds:
      break;
  }
  if (std::fmod(duration.count, 3600) == 0) return format_number(duration.count / 3600) + " h";
  if (std::fmod(duration.count, 60) == 0) return format_number(duration.count / 60) + " min";
  return number + " s";
}

std::string to_text(Size size) {
  constexpr std::array<std::string_view, 4> binary{"B", "KiB", "MiB", "GiB"};
  constexpr std::array<std::string_view, 4> decimal{"B", "kB", "MB", "GB"};
  const bool in_thousands = size.bytes % 1024 != 0;
  const auto& units = in_thousands ? decimal : binary;
  const std::int64_t base = in_thousands ? 1000 : 1024;
  std::size_t unit = 0;
  auto count = size.bytes;
  for (; unit + 1 < units.size() && count >= base && count % base == 0; ++unit) count /= base;
  return fmt::format("{} {}", count, units[unit]);
}

bool parse(const Node& node, Duration& value, std::string& why) {
  if (!node.is_scalar())
    return refuse(why, describe(node) + " is not a duration; write '5 epochs'");
  const auto amounts = read_amounts(node.text);
  if (amounts.empty())
    return refuse(why, describe(node) + " is not a duration; write '5 epochs' or '1000 steps'");
  if (amounts.size() > 1) return add_times(amounts, value, why) && check_count(value, why);
  const auto& [number, unit] = amounts.front();
  const auto plain = format_number(number);
  if (unit.empty())
    return refuse(why, fmt::format("'{}' has no unit; write '{}{}", node.text, plain,
                                   number == 1 ? " epoch' or '1 step'"
                                               : fmt::format(" epochs' or '{} steps'", plain)));
  const auto known = unit_of(unit);
  if (!known) return refuse(why, unknown_unit(unit, duration_words()));
  const double scale = *known == Unit::seconds ? *seconds_of(unit) : 1;
  value = {*known == Unit::share ? number / 100 : number * scale, *known};
  return check_count(value, why);
}

bool parse(const Node& node, Size& value, std::string& why, std::string_view bare) {
  static const std::vector<std::string> words{"B", "KiB", "MiB", "GiB", "kB", "MB", "GB"};
  const auto amounts = read_amounts(node.text);
  if (amounts.size() != 1) return refuse(why, describe(node) + " is not a size; write '64 MiB'");
  const auto& [number, written] = amounts.front();
  const auto unit = written.empty() ? std::string(bare) : written;
  const auto plain = format_number(number);
  if (unit.empty())
    return refuse(
        why, fmt::format("'{}' has no unit; write '{} MiB' or '{} B'", node.text, plain, plain));
  const auto bytes = bytes_of(unit);
  if (bytes == 0) return refuse(why, unknown_unit(unit, words));
  const double total = number * bytes;
  if (total < 0 || total > 0x1p62 || std::trunc(total) != total)
    return refuse(why, describe(node) + " is not a whole number of bytes");
  value.bytes = static_cast<std::int64_t>(total);
  return true;
}

bool parse(const Node& node, Share& value, std::string& why) {
  const std::string form = " is not a share; write '75 %' or 0.75";
  if (!node.is_scalar()) return refuse(why, describe(node) + form);
  const auto amounts = read_amounts(node.text);
  if (amounts.size() != 1) return refuse(why, describe(node) + form);
  const auto& [number, unit] = amounts.front();
  if (!unit.empty() && unit != "%") return refuse(why, describe(node) + form);
  if (unit.empty() && node.quoted) return refuse(why, describe(node) + form);
  if (unit.empty() && number > 1)
    return refuse(why, fmt::format("'{}' is above 1; write '{} %' or a number in 0 .. 1", node.text,
                                   format_number(number)));
  const double share = unit.empty() ? number : number / 100;
  if (share < 0 || share > 1) return refuse(why, "a share is between 0 % and 100 %");
  value.value = share;
  return true;
}

}  // namespace ddptrain
