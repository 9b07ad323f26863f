#include "config/constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "config/scalar.h"
#include "config/shape.h"

namespace ddptrain {
namespace {

using Test = Condition::Test;
using Kind = Constraint::Kind;

std::optional<double> number_in(const Node* value) {
  std::string unused;
  if (value == nullptr || !value->is_scalar()) return {};
  return read_number(*value, unused);
}

/// Unquoted values are equal as numbers where they are numbers.
bool is_value(const Node& value, const std::string& wanted) {
  const auto number = number_in(&value);
  const auto other = parse_number(wanted);
  if (number && other) return *number == *other;
  return value.is_scalar() && value.text == wanted;
}

bool is_set(const Node& value) {
  if (value.is_list()) return !value.items.empty();
  if (value.is_map()) return !value.members.empty();
  return value.is_scalar() && !value.text.empty() && value.text != "false" &&
         number_in(&value) != 0.0;
}

bool is_multiple(const Node& value, const std::string& divisor) {
  const auto number = number_in(&value);
  return !number || std::fmod(*number, *parse_number(divisor)) == 0;
}

/// The field of a record that a key names first, and what follows it in the key.
struct KeyPart {
  std::string_view name;
  std::optional<std::size_t> item;
  std::string_view rest;
};

KeyPart first_part(std::string_view key) {
  KeyPart part;
  const auto dot = key.find('.');
  part.name = key.substr(0, dot);
  if (dot != std::string_view::npos) part.rest = key.substr(dot + 1);
  const auto bracket = part.name.find('[');
  if (bracket == std::string_view::npos) return part;
  const auto index = part.name.substr(bracket + 1, part.name.size() - bracket - 2);
  part.item = static_cast<std::size_t>(*parse_integer(index));
  part.name = part.name.substr(0, bracket);
  return part;
}

/// The option of a record within; a shorthand stands for one of its options.
OptionValue inside(const OptionValue& outer, std::string_view key) {
  static const Node nothing = Node::map();
  const auto& value = *outer.value;
  if (value.is_map()) {
    auto found = option_value(value, *outer.shape, key);
    found.written = found.written && outer.written;
    return found;
  }
  auto found = option_value(nothing, *outer.shape, key);
  const bool list = value.is_list() && !outer.shape->list_shorthand.empty();
  const auto& stands = list ? outer.shape->list_shorthand : outer.shape->shorthand;
  if (!value.is_null() && stands == key) found.value = &value, found.written = outer.written;
  return found;
}

/// The key as people write it: "size" for "size.side", where one value and a list stand for
/// different options of the record.
std::string short_key(const std::string& key, const Shape& record) {
  static const Node nothing = Node::map();
  const auto dot = key.rfind('.');
  if (dot == std::string::npos) return key;
  const auto* outer = option_value(nothing, record, key.substr(0, dot)).shape;
  const bool stands = outer && !outer->list_shorthand.empty() &&
                      outer->shorthand == std::string_view(key).substr(dot + 1);
  return stands ? key.substr(0, dot) : key;
}

/// All that a check looks at.
class Look {
 public:
  Look(const Constraint& constraint, const Node& map, const Shape& record)
      : constraint_(constraint), record_(record) {
    for (const auto& condition : constraint.of) {
      const auto found = option_value(map, record, condition.key);
      DDP_CHECK(found.shape || condition.key.ends_with(']'),
                fmt::format("a constraint names '{}', which is no option", condition.key));
      found_.push_back(found);
    }
  }

  std::optional<std::string> message() const {
    switch (constraint_.kind) {
      case Kind::needs:
        if (!met(0) || met(1)) return {};
        return sentence(constraint_, record_) + found_instead(1);
      case Kind::always:
        if (met(0)) return {};
        return sentence(constraint_, record_) + found_instead(0);
      case Kind::exactly_one:
      case Kind::not_both:
        return of_several();
      case Kind::as_many:
      case Kind::one_or_as_many:
        return of_lists();
      default:
        return of_numbers();
    }
  }

  std::string written_key() const {
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (found_[i].written) return constraint_.of[i].key;
    return {};
  }

 private:
  bool met(std::size_t i) const {
    return found_[i].value == nullptr || holds(constraint_.of[i], *found_[i].value);
  }

  /// One of the options is written, and not as null.
  bool any_written() const {
    return std::ranges::any_of(
        found_, [](const OptionValue& each) { return each.written && is_set(*each.value); });
  }

  /// "; it is fastai by default" where that is informative.
  std::string found_instead(std::size_t i) const {
    const auto& value = *found_[i].value;
    if (constraint_.of[i].test == Test::unset || !is_set(value)) return {};
    return "; it is " + to_flow(value) + (found_[i].written ? "" : " by default");
  }

  std::string shown(std::size_t i) const {
    return fmt::format("'{}: {}'{}", short_key(constraint_.of[i].key, record_),
                       to_flow(*found_[i].value), found_[i].written ? "" : " (the default)");
  }

  /// Of an exactly_one what is written replaces what is there by default, which fields() of the
  /// record then resets.
  std::optional<std::string> of_several() const {
    const bool replaces = constraint_.kind == Kind::exactly_one && any_written();
    std::vector<std::string> set, all;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const auto quoted = fmt::format("'{}'", constraint_.of[i].key);
      all.push_back(quoted);
      if (!is_set(*found_[i].value) || (replaces && !found_[i].written)) continue;
      set.push_back(quoted + (found_[i].written ? "" : " (by default)"));
    }
    if (set.size() > 1)
      return join(set, " and ") + " exclude each other; give one of them, null removes the other";
    if (set.empty() && constraint_.kind == Kind::exactly_one)
      return "give one of " + join(all, ", ");
    return {};
  }

  std::optional<std::string> of_lists() const {
    const auto &list = *found_[0].value, &other = *found_[1].value;
    if (!list.is_list() || !other.is_list() || list.items.size() == other.items.size()) return {};
    const bool one = constraint_.kind == Kind::one_or_as_many;
    if (one && list.items.size() == 1) return {};
    if (list.items.empty() && !is_set(found_[0].shape->initial)) return {};
    const auto has = [&](std::size_t i) {
      const auto count = static_cast<std::int64_t>(found_[i].value->items.size());
      return fmt::format("'{}' has {}", constraint_.of[i].key, plural(count, "item"));
    };
    return fmt::format("{}, and {}{}", has(0), has(1), found_[1].written ? "" : " by default");
  }

  std::optional<std::string> of_numbers() const {
    const auto a = number_in(found_[0].value), b = number_in(found_[1].value);
    if (!a || !b) return {};
    const auto says = [&](bool fits, const std::string& relation) -> std::optional<std::string> {
      if (fits) return {};
      return shown(0) + relation + shown(1);
    };
    const auto limit = constraint_.max;
    switch (constraint_.kind) {
      case Kind::divides:
        return says(*a != 0 && std::fmod(*b, *a) == 0, " does not divide ");
      case Kind::at_most:
        return says(*a <= *b, " is above ");
      case Kind::below:
        return says(*a < *b, " is not below ");
      default:
        const bool fits = constraint_.below_max ? *a * *b < limit : *a * *b <= limit;
        auto text = says(fits, " times ");
        if (text)
          *text += (constraint_.below_max ? " is not below " : " is above ") + format_number(limit);
        return text;
    }
  }

  const Constraint& constraint_;
  const Shape& record_;
  std::vector<OptionValue> found_;
};

/// "'do_flip: true'" of a switch, "'size'" of another option that is set.
std::string condition_text(const Condition& condition, const Shape& record) {
  static const Node none = Node::map();
  const auto* shape = option_value(none, record, condition.key).shape;
  const bool on = shape && shape->kind == Shape::Kind::boolean;
  const auto name = short_key(condition.key, record);
  const auto key = "'" + name;
  switch (condition.test) {
    case Test::set:
      if (name != condition.key) return fmt::format("one value as {}'", key);
      return key + (on ? ": true'" : "'");
    case Test::unset:
      return fmt::format("no {}'", key);
    case Test::is:
      return fmt::format("{}: {}'", key, condition.value);
    case Test::is_not:
      return key + "' other than " + condition.value;
    case Test::multiple_of:
      break;
  }
  return condition.value == "2" ? fmt::format("an even {}'", key)
                                : fmt::format("a multiple of {} as {}'", condition.value, key);
}

std::string always_text(const Condition& condition, const Shape& record) {
  if (condition.test == Test::unset) return fmt::format("'{}' has no effect here", condition.key);
  return "it takes " + condition_text(condition, record);
}

std::string needs_text(const Constraint& constraint, const Shape& record) {
  const auto when = condition_text(constraint.of[0], record);
  const auto& then = constraint.of[1];
  if (then.test == Test::unset) return fmt::format("{} excludes '{}'", when, then.key);
  return when + " needs " + condition_text(then, record);
}

/// "'size'" of each option.
std::vector<std::string> quoted_keys(const Constraint& constraint, const Shape& record) {
  std::vector<std::string> keys;
  for (const auto& condition : constraint.of)
    keys.push_back(fmt::format("'{}'", short_key(condition.key, record)));
  return keys;
}

Constraint relation(Kind kind, const char* a, const char* b) { return {kind, {a, b}}; }

}  // namespace

Condition unset(std::string key) { return {std::move(key), Test::unset}; }
Condition is(std::string key, std::string value) {
  return {std::move(key), Test::is, std::move(value)};
}
Condition is_not(std::string key, std::string value) {
  return {std::move(key), Test::is_not, std::move(value)};
}
Condition multiple_of(std::string key, int divisor) {
  return {std::move(key), Test::multiple_of, std::to_string(divisor)};
}

Constraint needs(Condition when, Condition then) {
  return {Kind::needs, {std::move(when), std::move(then)}};
}
Constraint always(Condition condition) { return {Kind::always, {std::move(condition)}}; }
Constraint exactly_one(std::vector<Condition> options) {
  return {Kind::exactly_one, std::move(options)};
}
Constraint not_both(const char* a, const char* b) { return relation(Kind::not_both, a, b); }
Constraint divides(const char* a, const char* b) { return relation(Kind::divides, a, b); }
Constraint at_most(const char* a, const char* b) { return relation(Kind::at_most, a, b); }
Constraint below(const char* a, const char* b) { return relation(Kind::below, a, b); }
Constraint as_many(const char* a, const char* b) { return relation(Kind::as_many, a, b); }
Constraint one_or_as_many(const char* a, const char* b) {
  return relation(Kind::one_or_as_many, a, b);
}
Constraint product_at_most(const char* a, const char* b, double max) {
  return {Kind::product, {a, b}, max};
}
Constraint product_below(const char* a, const char* b, double max) {
  return {Kind::product, {a, b}, max, true};
}

OptionValue option_value(const Node& map, const Shape& record, std::string_view key) {
  const auto part = first_part(key);
  const auto field = std::find_if(record.children.begin(), record.children.end(),
                                  [&](const Shape& child) { return child.key == part.name; });
  if (field == record.children.end()) return {};
  const auto* written = map.find(part.name);
  OptionValue found{written ? written : &field->initial, &*field, written != nullptr};
  if (part.item) {
    const bool there = found.value->is_list() && *part.item < found.value->items.size();
    found.value = there ? &found.value->items[*part.item] : nullptr;
    found.shape = &field->children[0];
  }
  return part.rest.empty() || !found.value ? found : inside(found, part.rest);
}

bool holds(const Condition& condition, const Node& value) {
  switch (condition.test) {
    case Test::set:
      return is_set(value);
    case Test::unset:
      return !is_set(value);
    case Test::is:
      return is_value(value, condition.value);
    case Test::is_not:
      return !is_value(value, condition.value);
    case Test::multiple_of:
      break;
  }
  return is_multiple(value, condition.value);
}

std::optional<Conflict> conflict(const Constraint& constraint, const Node& map,
                                 const Shape& record) {
  const Look look(constraint, map, record);
  auto message = look.message();
  if (!message) return {};
  return Conflict{look.written_key(), *message};
}

bool defaults_agree(const Shape& record) {
  const auto nothing = Node::map();
  return std::none_of(record.constraints.begin(), record.constraints.end(),
                      [&](const Constraint& each) { return conflict(each, nothing, record); });
}

std::string sentence(const Constraint& constraint, const Shape& record) {
  const auto keys = quoted_keys(constraint, record);
  const auto both = [&](const std::string& between) { return keys.at(0) + between + keys.at(1); };
  switch (constraint.kind) {
    case Kind::needs:
      return needs_text(constraint, record);
    case Kind::always:
      return always_text(constraint.of[0], record);
    case Kind::exactly_one:
      return fmt::format("one of {} is given", join(keys, ", "));
    case Kind::not_both:
      return both(" and ") + " exclude each other";
    case Kind::divides:
      return both(" divides ");
    case Kind::at_most:
      return both(" is at most ");
    case Kind::below:
      return both(" is below ");
    case Kind::as_many:
      return both(" has as many items as ");
    case Kind::one_or_as_many:
      return both(" has one item or as many as ");
    case Kind::product:
      break;
  }
  return both(" times ") + (constraint.below_max ? " is below " : " is at most ") +
         format_number(constraint.max);
}

}  // namespace ddptrain
