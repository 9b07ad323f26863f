#include "text/json_section.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace ddptrain {

const JsonSection::Json* JsonSection::find(std::string_view key) const {
  if (!value_.is_object()) fail("is not an object");
  const auto found = value_.find(key);
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

bool JsonSection::is_null(std::string_view key) const { return find(key) == nullptr; }

JsonSection JsonSection::at(std::string_view key) const {
  const auto* found = find(key);
  if (!found) fail(fmt::format("has no '{}'", key));
  return {*found, place_ + (place_.ends_with(": ") ? "" : ".") + std::string(key)};
}

JsonSection JsonSection::item(std::size_t index) const {
  return {value_.at(index), fmt::format("{}[{}]", place_, index)};
}

std::size_t JsonSection::items() const {
  if (!value_.is_array()) fail("is not a list");
  return value_.size();
}

std::string JsonSection::text(std::string_view key) const { return at(key).text(); }

std::string JsonSection::text() const {
  if (!value_.is_string()) fail("is not text");
  return value_.get<std::string>();
}

std::string JsonSection::text_or(std::string_view key, const std::string& otherwise) const {
  return is_null(key) ? otherwise : text(key);
}

bool JsonSection::flag(std::string_view key, bool otherwise) const {
  const auto* found = find(key);
  if (!found) return otherwise;
  if (!found->is_boolean()) at(key).fail("is not true or false");
  return found->get<bool>();
}

std::int64_t JsonSection::number(std::string_view key, std::int64_t otherwise) const {
  const auto* found = find(key);
  if (!found) return otherwise;
  const bool whole = found->is_number_integer() && *found >= 0 && *found <= INT32_MAX;
  if (!whole) at(key).fail("is not a whole number from 0");
  return found->get<std::int64_t>();
}

void JsonSection::allow(std::initializer_list<std::string_view> keys) const {
  if (!value_.is_object()) fail("is not an object");
  for (const auto& [key, unused] : value_.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      fail(fmt::format("'{}' is not supported", key));
}

void JsonSection::refuse(std::string_view key) const {
  const auto* found = find(key);
  if (found && *found != false && *found != Json(std::string()) && *found != Json::array())
    at(key).fail("is not supported");
}

void JsonSection::check_depth(int depth) const {
  constexpr int deepest = 8;
  if (depth > deepest) fail("is nested too deeply");
}

void JsonSection::fail(const std::string& what) const {
  throw Error(Exit::data, place_ + (place_.ends_with(": ") ? "" : ": ") + what);
}

void JsonSection::not_supported(const std::string& what, const std::string& supported) const {
  fail(fmt::format("'{}' is not supported; there are {}", what, supported));
}

}  // namespace ddptrain
