// A record as JSON and back. Its `fields` names each key once, for the writer and for both readers:
//   f(key, member)                   a key that is always there
//   f(key, optional)                 left out where it is empty
//   f.nullable(key, optional)        null where it is empty
//   f.added(key, member, otherwise)  files of earlier versions lack it
//   f.unless_empty(key, member)      left out where it is empty, 0 or false
//   f.embedded(key, text)            JSON as text; left out where it is empty
//   f.inlined(values, belongs)       each under its own name; those for which belongs(name) holds
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/named_values.h"
#include "base/text.h"

namespace ddptrain {

template <class T, class Fields>
concept IsRecord = requires(T& record, Fields& f) {
  fields(record, f);
};

class ToJson {
 public:
  explicit ToJson(Json& json) : json_(json) {}

  template <class T>
  void operator()(const char* key, const T& member) {
    json_[key] = value(member);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& member) {
    if (member) json_[key] = value(*member);
  }
  template <class T>
  void nullable(const char* key, const std::optional<T>& member) {
    json_[key] = member ? value(*member) : Json();
  }
  template <class T>
  void added(const char* key, const T& member, const T&) {
    json_[key] = value(member);
  }
  template <class T>
  void unless_empty(const char* key, const T& member) {
    if constexpr (requires { member.empty(); }) {
      if (!member.empty()) json_[key] = value(member);
    } else if (member != T()) {
      json_[key] = value(member);
    }
  }
  void embedded(const char* key, const std::string& text) {
    if (!text.empty()) json_[key] = parse_json(text);
  }
  template <class Belongs>
  void inlined(const NamedValues& values, Belongs) {
    for (const auto& [name, number] : values) json_[name] = number;
  }

  static Json value(const NamedValues& values) {
    Json json = Json::object();
    for (const auto& [name, number] : values) json[name] = number;  // JSON has no NaN: it is null
    return json;
  }
  template <class T>
  static Json value(const std::vector<T>& members) {
    Json json = Json::array();
    for (const auto& member : members) json.push_back(value(member));
    return json;
  }
  template <class T>
  static Json value(const std::map<std::int64_t, T>& members) {
    Json json = Json::object();
    for (const auto& [number, member] : members) json[std::to_string(number)] = value(member);
    return json;
  }
  template <class T>
  static Json value(const T& member) {
    if constexpr (std::is_constructible_v<Json, T>) {
      return member;
    } else {
      auto copy = member;  // one `fields` serves writing and reading
      Json json = Json::object();
      ToJson inside(json);
      fields(copy, inside);
      return json;
    }
  }

 private:
  Json& json_;
};

/// Reads an object that may have other keys too.
class FromJson {
 public:
  /// `required`: a key that is missing or of another type makes Json throw. `any`: the
  /// member stays as it is.
  enum class Keys { required, any };
  explicit FromJson(const Json& json, Keys keys = Keys::required) : json_(json), keys_(keys) {}

  template <class T>
  void operator()(const char* key, T& member) {
    if (const auto* json = found(key)) read(*json, member);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member) {
    member.reset();
    nullable(key, member);
  }
  template <class T>
  void nullable(const char* key, std::optional<T>& member) {
    if (!json_.contains(key)) return;
    const auto& json = json_.at(key);
    T value{};
    member.reset();
    if (!json.is_null() && read(json, value)) member = std::move(value);
  }
  template <class T>
  void added(const char* key, T& member, const T& otherwise) {
    member = otherwise;
    if (json_.contains(key)) read(json_.at(key), member);
  }
  template <class T>
  void unless_empty(const char* key, T& member) {
    added(key, member, T());
  }
  void embedded(const char* key, std::string& text) {
    text = json_.contains(key) ? json_text(json_.at(key)) : "";
  }
  template <class Belongs>
  void inlined(NamedValues& values, Belongs belongs) {
    values.clear();
    for (const auto& [name, number] : json_.items())
      if (belongs(name) && (number.is_number() || number.is_null()))
        read(number, values.emplace_back(name, 0).second);
  }

  /// Whether it was read.
  bool read(const Json& json, NamedValues& values) const {
    if (is_refused(json.is_object())) return false;
    values.clear();
    for (const auto& [name, number] : json.items())
      read(number, values.emplace_back(name, std::nan("")).second);
    return true;
  }
  template <class T>
  bool read(const Json& json, std::vector<T>& members) const {
    if (is_refused(json.is_array())) return false;
    members.clear();
    for (const auto& each : json)
      if (T member{}; read(each, member)) members.push_back(std::move(member));
    return true;
  }
  template <class T>
  bool read(const Json& json, std::map<std::int64_t, T>& members) const {
    if (is_refused(json.is_object())) return false;
    members.clear();
    for (const auto& [number, each] : json.items())
      if (const auto key = parse_integer(number)) read(each, members[*key]);
    return true;
  }
  template <class T>
  bool read(const Json& json, T& member) const {
    if constexpr (IsRecord<T, FromJson>) {
      if (is_refused(json.is_object())) return false;
      FromJson inside(json, keys_);
      fields(member, inside);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (is_refused(json.is_boolean())) return false;
      json.get_to(member);
    } else if constexpr (std::is_integral_v<T>) {
      if (is_refused(json.is_number_integer())) return false;
      member = static_cast<T>(json.template get_ref<const Json::number_integer_t&>());
    } else if constexpr (std::is_same_v<T, double>) {
      if (is_refused(json.is_number() || json.is_null())) return false;
      member = json.is_null() ? std::nan("") : json.get<double>();
    } else {
      if (is_refused(!std::is_same_v<T, std::string> || json.is_string())) return false;
      json.get_to(member);
    }
    return true;
  }

 private:
  /// Null where it may be missing and is.
  const Json* found(const char* key) const {
    if (keys_ == Keys::any && !json_.contains(key)) return nullptr;
    return &json_.at(key);
  }
  bool is_refused(bool fits) const { return !fits && keys_ == Keys::any; }

  const Json& json_;
  Keys keys_;
};

/// What the text of a file holds. An Error (Exit::data), "FILE cannot be read", where it is torn or
/// another's.
template <class Record>
Record record_of(const std::string& text, const std::string& file) {
  try {
    Record record;
    const auto json = parse_json(text);
    FromJson(json).read(json, record);
    return record;
  } catch (const Json::exception&) {
    throw Error(Exit::data, "{} cannot be read", file);
  }
}

}  // namespace ddptrain
