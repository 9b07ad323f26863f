// What must hold between the options of one component or record, declared after their fields:
//
//   f.require(needs("three_phase", is("like", "torch")));
//   f.require(divides("num_heads", "dim"));
//
// A constraint is data, so that `validate`, the schema, `describe` and the program without
// LibTorch all know it. What one option alone may be is in its Spec (fields.h).
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

struct Node;
struct Shape;

/// What an option is. `key` is one of the record's, one of a record inside ("size.side"), or an
/// item of a list ("stem[2]"). An option is *set* unless it is null, false, 0 or empty.
struct Condition {
  enum class Test { set, unset, is, is_not, multiple_of };

  Condition(const char* option) : key(option) {}  // NOLINT: "mean" reads as: mean is set
  Condition(std::string option, Test what, std::string wanted = {})
      : key(std::move(option)), test(what), value(std::move(wanted)) {}

  std::string key;
  Test test = Test::set;
  std::string value{};  // of is and is_not the value as YAML, of multiple_of the divisor
};

Condition unset(std::string key);
Condition is(std::string key, std::string value);
Condition is_not(std::string key, std::string value);
Condition multiple_of(std::string key, int divisor);

struct Constraint {
  enum class Kind {
    needs,        // where the first condition holds, the second does
    always,       // the condition holds
    exactly_one,  // exactly one of the options is set
    not_both,     // at most one of them is
    divides,      // the first number divides the second
    at_most,      // the first number is at most the second
    below,        // the first number is below the second
    as_many,      // the first list has as many items as the second, or none if that is its default
    one_or_as_many,  // or one item, which stands for all
    product          // the product of both numbers is at most `max`
  };

  Kind kind = Kind::needs;
  std::vector<Condition> of{};  // of all kinds but the first two only the keys count
  double max = std::numeric_limits<double>::infinity();
  bool below_max = false;  // the product is below `max`
};

Constraint needs(Condition when, Condition then);
Constraint always(Condition condition);
Constraint exactly_one(std::vector<Condition> options);
Constraint not_both(const char* a, const char* b);
Constraint divides(const char* divisor, const char* number);
Constraint at_most(const char* least, const char* most);
Constraint below(const char* low, const char* high);
Constraint as_many(const char* list, const char* other);
Constraint one_or_as_many(const char* list, const char* other);
Constraint product_at_most(const char* a, const char* b, double max);
Constraint product_below(const char* a, const char* b, double max);

/// An option's value in a map of a record: as written, or its default. Null pointers where the
/// record has no such option or the list no such item.
struct OptionValue {
  const Node* value = nullptr;
  const Shape* shape = nullptr;
  bool written = false;
};
OptionValue option_value(const Node& map, const Shape& record, std::string_view key);

bool holds(const Condition& condition, const Node& value);

/// A constraint that a map does not keep. `key` is the first of its options that is written, empty
/// where defaults alone break it.
struct Conflict {
  std::string key;
  std::string message;
};

/// Nothing where the map keeps the constraint, or where a number that it needs is auto or null.
std::optional<Conflict> conflict(const Constraint& constraint, const Node& map,
                                 const Shape& record);

/// Whether a record in which nothing is written keeps its constraints.
bool defaults_agree(const Shape& record);

/// "'three_phase: true' needs 'like: torch'", without a full stop.
std::string sentence(const Constraint& constraint, const Shape& record);

}  // namespace ddptrain
