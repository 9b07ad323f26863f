// A part of a JSON file that knows its place, so that what is wrong or not supported there is
// named.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Every function throws an Error (Exit::data) that names file and place where a value is missing
/// or of the wrong kind.
class JsonSection {
 public:
  using Json = nlohmann::json;
  /// `place` is "tokenizer.json: normalizer"; the value must outlive the section.
  JsonSection(const Json& value, std::string place) : value_(value), place_(std::move(place)) {}

  const Json& value() const { return value_; }
  bool is_null(std::string_view key) const;
  JsonSection at(std::string_view key) const;
  JsonSection item(std::size_t index) const;
  std::size_t items() const;  // of a list
  std::string type() const { return text("type"); }
  std::string text(std::string_view key) const;
  std::string text() const;
  std::string text_or(std::string_view key, const std::string& otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  std::int64_t number(std::string_view key, std::int64_t otherwise) const;
  /// Refuses keys that are not listed: they might change tokens.
  void allow(std::initializer_list<std::string_view> keys) const;
  /// Refuses a key whose value is not null, false or empty.
  void refuse(std::string_view key) const;
  /// Refuses sections within sections, of which this is at `depth` from 0, beyond the eighth.
  void check_depth(int depth) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void not_supported(const std::string& what, const std::string& supported) const;

 private:
  const Json* find(std::string_view key) const;

  const Json& value_;
  std::string place_;
};

}  // namespace ddptrain
