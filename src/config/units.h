// Values with a unit: durations and periods of a run, sizes in bytes, shares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "config/node.h"

namespace ddptrain {

/// How long or how often: "5 epochs", "1000 steps", "20000 samples", "1 h 30 min", "75 %" of the
/// run.
struct Duration {
  enum class Unit { epochs, steps, samples, seconds, share };
  double count = 0;  // > 0; whole for steps and samples; a share in 0 .. 1
  Unit unit = Unit::epochs;
  bool operator==(const Duration&) const = default;
};

Duration epochs(double count);
Duration steps(double count);
std::string to_text(const Duration& duration);  // "5 epochs"

/// Bytes: "64 MiB", "25 MB", "1 GiB".
struct Size {
  std::int64_t bytes = 0;
  bool operator==(const Size&) const = default;
};
std::string to_text(Size size);

/// A share of a whole, 0 .. 1: "75 %" or 0.75.
struct Share {
  double value = 0;
  bool operator==(const Share&) const = default;
};

/// "auto" or a value.
template <class T>
struct Auto {
  std::optional<T> value;  // empty: auto
  Auto() = default;
  Auto(T given) : value(std::move(given)) {}  // NOLINT: reads as the value
  bool automatic() const { return !value.has_value(); }
};

/// A word of a closed set (an enum, see config/fields.h) or a value: `node` or 8.
template <class W, class T>
struct WordOr {
  std::variant<T, W> is;
  WordOr() = default;
  WordOr(T value) : is(std::move(value)) {}  // NOLINT: reads as the value
  WordOr(W word) : is(word) {}               // NOLINT: reads as the word
  const T* value() const { return std::get_if<T>(&is); }
  const W* word() const { return std::get_if<W>(&is); }
  bool operator==(const WordOr&) const = default;
};

/// Reads a value from a scalar; on failure says why ("write '5 epochs' or '5 steps'") in `why`.
bool parse(const Node& node, Duration& value, std::string& why);
/// `bare`: the unit of a number alone; none: it needs one.
bool parse(const Node& node, Size& value, std::string& why, std::string_view bare = {});
bool parse(const Node& node, Share& value, std::string& why);

}  // namespace ddptrain
