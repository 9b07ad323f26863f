// Options are declared once. An options struct is a plain aggregate whose member initializers are
// the defaults; `void fields(Fields& f)` names each key, its range and one sentence. Visitors
// (Decode, Encode, Shape) do the rest. Conditions between options are declared after them.
//
//   struct Options {
//     double lr = 1e-3;
//     std::optional<double> clip;
//     void fields(Fields& f) {
//       f("lr", lr, {.doc = "Peak learning rate.", .min = 0});
//       f("clip", clip, {.doc = "Clip each gradient entry to this; null leaves it alone.", .min =
//       0});
//     }
//   };
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/constraint.h"
#include "config/units.h"

namespace ddptrain {

class ChoiceBase;  // config/choice.h
struct Node;       // config/node.h

/// What is asked of a list's items together: any, each at least the one before (`ascending`) or
/// above it (`increasing`), none twice (`distinct`), or numbers of which one is not 0.
enum class ItemOrder { any, ascending, increasing, distinct, not_all_zero };

/// Whether a path may also be an address (s3://, gs://, https://, http://): of a file, or of a
/// folder whose files are listed, which a plain web server cannot.
enum class AddressUse { none, file, folder };

/// What a text is: any, a regular expression (RE2), or one with a group ( ).
enum class TextForm { any, pattern, pattern_with_group };

/// What C++ cannot say about a member: a sentence that ends with a full stop, an inclusive range,
/// and whether the key must be written. For lists and maps the range is that of each item. What
/// holds between members is a Constraint.
struct Spec {
  std::string_view doc;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  // the minimum itself is excluded
  bool below_max = false;  // the maximum itself is excluded
  bool required = false;
  bool path = false;                      // a file or folder: relative to the file that wrote it
  AddressUse address = AddressUse::none;  // of a path
  std::string_view unit = {};             // of a bare number: "px", "MiB"
  std::string_view example = {};          // a value as YAML, where the default does not show one
  std::string_view was = {};              // the key's former name, which is still understood
  std::size_t min_items = 0;              // of a list, or characters of a text
  std::size_t max_items = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> lengths = {};  // how many items a list may have; empty: any number
  ItemOrder items = ItemOrder::any;
  TextForm form = TextForm::any;  // of a text
  bool odd = false;               // of an integer
  std::int64_t multiple_of = 1;   // of an integer
  bool in_steps = false;          // a duration that schedules count: steps, epochs or a share
};

class Fields;

/// A word of a closed set is an enum with `std::span<const std::string_view> names(E)` found by
/// argument-dependent look-up: the words in the order of the enumerators, which count from 0.
template <class T>
concept Word = std::is_enum_v<T> && requires(T e) {
  { names(e) } -> std::convertible_to<std::span<const std::string_view>>;
};

/// A struct with options of its own. `static constexpr std::string_view shorthand = "key"` lets a
/// scalar stand for {key: scalar}; a list stands for {list_shorthand: list}, where that is given.
template <class T>
concept Record = requires(T t, Fields& f) {
  t.fields(f);
};

class Fields {
 public:
  virtual ~Fields() = default;

  template <class T>
  void operator()(std::string_view key, T& member, const Spec& spec) {
    if (!begin(key, spec)) return;
    value(member);
    end();
  }

  /// What must hold between the members of this struct, which are fields already.
  void require(const Constraint& constraint) { condition(constraint); }

 protected:
  virtual bool begin(std::string_view key, const Spec& spec) = 0;
  virtual void end() = 0;
  virtual void condition(const Constraint&) {}
  virtual void leaf(bool& v) = 0;
  virtual void leaf(std::int64_t& v) = 0;
  virtual void leaf(double& v) = 0;
  virtual void leaf(std::string& v) = 0;
  virtual void leaf(Duration& v) = 0;
  virtual void leaf(Size& v) = 0;
  virtual void leaf(Share& v) = 0;
  /// Any value, as written: what it may be depends on where it is used.
  virtual void leaf(Node& v) = 0;
  virtual void word(int& index, std::span<const std::string_view> words) = 0;
  /// An optional (null allowed) or an Auto ("auto" allowed): given whether there is a value now,
  /// says whether there is to be one.
  virtual bool present(bool now) = 0;
  virtual bool given(bool now) = 0;
  /// A WordOr: given the index of its word now, or nothing where it has a value, says the same of
  /// what it is to be.
  virtual std::optional<int> worded(std::optional<int> now,
                                    std::span<const std::string_view> words) = 0;
  virtual std::size_t begin_list(std::size_t now) = 0;
  virtual void item(std::size_t index) = 0;
  virtual void end_list() = 0;
  /// A map from free keys to values of one type: given the keys now, says the keys to be.
  virtual std::vector<std::string> begin_table(const std::vector<std::string>& now) = 0;
  virtual void row(std::size_t index, const std::string& key) = 0;
  virtual void end_table() = 0;
  virtual bool begin_record(std::string_view shorthand, std::string_view list_shorthand) = 0;
  virtual void end_record() = 0;
  virtual void component(ChoiceBase& choice) = 0;

 private:
  void value(bool& v) { leaf(v); }
  void value(std::int64_t& v) { leaf(v); }
  void value(double& v) { leaf(v); }
  void value(std::string& v) { leaf(v); }
  void value(Duration& v) { leaf(v); }
  void value(Size& v) { leaf(v); }
  void value(Share& v) { leaf(v); }
  void value(Node& v) { leaf(v); }
  void value(ChoiceBase& v) { component(v); }

  template <Word T>
  void value(T& v) {
    int index = static_cast<int>(v);
    word(index, names(v));
    v = static_cast<T>(index);
  }

  template <class T>
  void value(std::optional<T>& v) {
    if (!present(v.has_value())) return v.reset();
    if (!v) v.emplace();
    value(*v);
  }

  template <class T>
  void value(Auto<T>& v) {
    if (!given(v.value.has_value())) return v.value.reset();
    if (!v.value) v.value.emplace();
    value(*v.value);
  }

  template <Word W, class T>
  void value(WordOr<W, T>& v) {
    std::optional<int> now;
    if (const auto* word = v.word()) now = static_cast<int>(*word);
    if (const auto index = worded(now, names(W{}))) {
      v = static_cast<W>(*index);
      return;
    }
    if (!v.value()) v = T{};
    value(std::get<T>(v.is));
  }

  template <class T>
  void value(std::vector<T>& v) {
    v.resize(begin_list(v.size()));
    for (std::size_t i = 0; i < v.size(); ++i) {
      item(i);
      value(v[i]);
    }
    end_list();
  }

  template <class T>
  void value(std::map<std::string, T>& v) {
    std::vector<std::string> keys;
    for (const auto& [key, unused] : v) keys.push_back(key);
    keys = begin_table(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      row(i, keys[i]);
      value(v[keys[i]]);
    }
    end_table();
  }

  template <Record T>
  void value(T& v) {
    std::string_view shorthand;
    std::string_view list_shorthand;
    if constexpr (requires { T::shorthand; }) shorthand = T::shorthand;
    if constexpr (requires { T::list_shorthand; }) list_shorthand = T::list_shorthand;
    if (!begin_record(shorthand, list_shorthand)) return;
    v.fields(*this);
    end_record();
  }
};

}  // namespace ddptrain
