#include "train/run_state.h"

#include <nlohmann/json.hpp>

namespace ddptrain {
namespace {

class ToJson {
 public:
  explicit ToJson(StateJson& json) : json_(json) {}

  template <class T>
  void operator()(const char* key, T& member) {
    write(json_[key], member);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member) {
    if (member) write(json_[key], *member);
  }
  template <class T>
  void added(const char* key, T& member, const T&) {
    write(json_[key], member);
  }
  void unless_zero(const char* key, double& member) {
    if (member != 0) write(json_[key], member);
  }

 private:
  static void write(StateJson& json, bool value) { json = value; }
  static void write(StateJson& json, std::int64_t value) { json = value; }
  static void write(StateJson& json, double value) { json = value; }
  static void write(StateJson& json, std::string& value) { json = value; }
  static void write(StateJson& json, NamedValues& values) {
    json = StateJson::object();
    for (const auto& [name, value] : values) json[name] = value;
  }
  template <class Record>
  static void write(StateJson& json, Record& record) {
    ToJson members(json);
    fields(record, members);
  }

  StateJson& json_;
};

class FromJson {
 public:
  explicit FromJson(const StateJson& json) : json_(json) {}

  template <class T>
  void operator()(const char* key, T& member) {
    read(json_.at(key), member);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member) {
    member.reset();
    if (json_.contains(key)) read(json_.at(key), member.emplace());
  }
  template <class T>
  void added(const char* key, T& member, const T& otherwise) {
    member = otherwise;
    if (json_.contains(key)) read(json_.at(key), member);
  }
  void unless_zero(const char* key, double& member) { added(key, member, 0.0); }

 private:
  static void read(const StateJson& json, bool& value) { json.get_to(value); }
  static void read(const StateJson& json, std::int64_t& value) { json.get_to(value); }
  static void read(const StateJson& json, std::string& value) { json.get_to(value); }
  static void read(const StateJson& json, double& value) {
    value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
  }
  static void read(const StateJson& json, NamedValues& values) {
    values.clear();
    for (const auto& [name, value] : json.items()) read(value, values.emplace_back(name, 0).second);
  }
  template <class Record>
  static void read(const StateJson& json, Record& record) {
    FromJson members(json);
    fields(record, members);
  }

  const StateJson& json_;
};

}  // namespace

StateJson to_json(const RunState& state) {
  auto copy = state;  // one `fields` serves writing and reading
  StateJson json;
  ToJson members(json);
  fields(copy, members);
  return json;
}

RunState run_state_of(const StateJson& json) {
  RunState state;
  FromJson members(json);
  fields(state, members);
  return state;
}

void move_on(Position& at, std::int64_t steps_per_epoch) {
  ++at.step;
  if (++at.step_in_epoch < steps_per_epoch) return;
  at.step_in_epoch = 0;
  at.bad_in_epoch = 0;
  ++at.epoch;
}

}  // namespace ddptrain
