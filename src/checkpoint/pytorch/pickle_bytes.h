// The bytes of a pickle, read from the first to the last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ddptrain {

/// An Error (Exit::data) names the file and the byte where there are too few.
class PickleBytes {
 public:
  /// Both outlive it.
  PickleBytes(std::span<const std::uint8_t> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  std::size_t size() const { return bytes_.size(); }
  std::size_t position() const { return at_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Exit::data, "'{}' is no sound pickle: {} at byte {}", file_, what, at_);
  }

  std::span<const std::uint8_t> take_bytes(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail("it is cut short");
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  std::uint8_t byte() { return take_bytes(1)[0]; }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    const auto part = take_bytes(static_cast<std::uint64_t>(bytes));
    for (int i = 0; i < bytes; ++i)
      value |= std::uint64_t{part[static_cast<std::size_t>(i)]} << (8 * i);
    return value;
  }
  std::string_view string(std::uint64_t count) {
    const auto part = take_bytes(count);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  std::string_view line() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::find(rest.begin(), rest.end(), '\n');
    if (end == rest.end()) fail("a line does not end");
    const auto text = string(static_cast<std::uint64_t>(end - rest.begin()));
    ++at_;
    return text;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace ddptrain
