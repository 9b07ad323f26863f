#include "config/decode.h"

#include <algorithm>
#include <utility>

#include "config/choice.h"
#include "config/scalar.h"

namespace ddptrain {
namespace {

template <class T>
T must(std::optional<T> value, const std::string& why) {
  DDP_CHECK(value.has_value(), "an unchecked tree: " + why);
  return *std::move(value);
}

}  // namespace

Decode::Decode(const Node& map) : at_{&map} {}
Decode::~Decode() = default;

bool Decode::begin(std::string_view key, const Spec& spec) {
  const Node* value = at_.back()->find(key);
  if (value == nullptr) return false;
  unit_ = spec.unit;
  at_.push_back(value);
  return true;
}

void Decode::end() { at_.pop_back(); }

void Decode::leaf(bool& v) {
  std::string why;
  v = must(read_boolean(*at_.back(), why), why);
}

void Decode::leaf(std::int64_t& v) {
  std::string why;
  v = must(read_integer(*at_.back(), why), why);
}

void Decode::leaf(double& v) {
  std::string why;
  v = must(read_number(*at_.back(), why), why);
}

void Decode::leaf(std::string& v) {
  std::string why;
  v = must(read_text(*at_.back(), why), why);
}

void Decode::leaf(Duration& v) {
  std::string why;
  const bool fits = parse(*at_.back(), v, why);
  DDP_CHECK(fits, "an unchecked tree: " + why);
}

void Decode::leaf(Size& v) {
  std::string why;
  const bool fits = parse(*at_.back(), v, why, unit_);
  DDP_CHECK(fits, "an unchecked tree: " + why);
}

void Decode::leaf(Share& v) {
  std::string why;
  const bool fits = parse(*at_.back(), v, why);
  DDP_CHECK(fits, "an unchecked tree: " + why);
}

void Decode::leaf(Node& v) { v = *at_.back(); }

void Decode::word(int& index, std::span<const std::string_view> words) {
  const auto found = std::find(words.begin(), words.end(), at_.back()->text);
  DDP_CHECK(found != words.end(), "an unchecked tree: the word '" + at_.back()->text + "'");
  index = static_cast<int>(found - words.begin());
}

bool Decode::present(bool) { return !at_.back()->is_null(); }

bool Decode::given(bool) { return !(at_.back()->is_scalar() && at_.back()->text == "auto"); }

std::optional<int> Decode::worded(std::optional<int>, std::span<const std::string_view> words) {
  if (!at_.back()->is_scalar()) return {};
  const auto found = std::find(words.begin(), words.end(), at_.back()->text);
  if (found == words.end()) return {};
  return static_cast<int>(found - words.begin());
}

std::size_t Decode::begin_list(std::size_t) {
  DDP_CHECK(at_.back()->is_list(), "an unchecked tree: not a list");
  at_.push_back(nullptr);  // the item under way
  return at_[at_.size() - 2]->items.size();
}

void Decode::item(std::size_t index) { at_.back() = &at_[at_.size() - 2]->items[index]; }

void Decode::end_list() { at_.pop_back(); }

std::vector<std::string> Decode::begin_table(const std::vector<std::string>&) {
  DDP_CHECK(at_.back()->is_map(), "an unchecked tree: not a map");
  std::vector<std::string> keys;
  for (const auto& member : at_.back()->members) keys.push_back(member.key);
  at_.push_back(nullptr);
  return keys;
}

void Decode::row(std::size_t index, const std::string&) {
  at_.back() = &at_[at_.size() - 2]->members[index].value;
}

void Decode::end_table() { at_.pop_back(); }

bool Decode::begin_record(std::string_view shorthand, std::string_view list_shorthand) {
  const Node& value = *at_.back();
  if (value.is_map()) {
    at_.push_back(&value);
    return true;
  }
  const auto key = value.is_list() && !list_shorthand.empty() ? list_shorthand : shorthand;
  DDP_CHECK(!key.empty(), "an unchecked tree: not a map");
  made_.push_back(Node::map({{std::string(key), value.place, value}}, value.place));
  at_.push_back(&made_.back());
  return true;
}

void Decode::end_record() { at_.pop_back(); }

void Decode::component(ChoiceBase& choice) { choice.choose(*at_.back()); }

}  // namespace ddptrain
