#include "jobs/constraint_examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/documents/example.h"
#include "train/catalogs.h"

namespace ddptrain::test {
namespace {

using Kind = Constraint::Kind;
using Test = Condition::Test;

Node word(const std::string& text) { return Node::scalar(text); }

bool in_range(double x, const Shape& option) {
  if (option.above_min ? x <= option.min : x < option.min) return false;
  if (option.below_max ? x >= option.max : x > option.max) return false;
  const bool whole = option.kind != Shape::Kind::integer || std::trunc(x) == x;
  return whole && !(option.odd && std::fmod(x, 2) == 0) &&
         (option.multiple_of == 1 || std::fmod(x, static_cast<double>(option.multiple_of)) == 0);
}

bool is_number(const Shape& option) {
  return option.kind == Shape::Kind::integer || option.kind == Shape::Kind::number;
}

/// Small numbers that an option may be, its bounds, and what lies between them.
std::vector<double> numbers_of(const Shape& option) {
  std::vector<double> all{1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 31, 32, 48, 0.25, 0.5, 0.75, 0.999, 0};
  for (const double bound : {option.min, option.max})
    if (std::isfinite(bound) && std::find(all.begin(), all.end(), bound) == all.end())
      all.push_back(bound);
  std::erase_if(all, [&](double x) { return !in_range(x, option); });
  return all;
}

Node list_of(const Shape& list, std::size_t count) {
  auto node = Node::list();
  const auto& item = list.children[0];
  for (std::size_t i = 0; i < count; ++i) {
    const auto numbers = is_number(item) ? numbers_of(item) : std::vector<double>{};
    const auto step = list.items == ItemOrder::increasing ? static_cast<double>(i) : 0;
    node.items.push_back(is_number(item) ? word(format_number(numbers.at(0) + step))
                                         : example_value(item, all_catalogs()));
    if (list.items == ItemOrder::distinct) node.items.back().text += std::to_string(i);
  }
  return node;
}

OptionValue option_of(const Where& where, const std::string& key) {
  return option_value(where.base, where.record, key);
}

/// Sets an option; one of a list that stands for a record's other form sets that.
void set_option(Node& map, const Where& where, const std::string& key, Node value) {
  const auto dot = key.find('.'), bracket = key.find('[');
  if (bracket != std::string::npos) {
    const auto name = key.substr(0, bracket);
    auto list = option_of(where, name).shape->initial;
    list.items.at(static_cast<std::size_t>(
        *parse_integer(key.substr(bracket + 1, key.size() - bracket - 2)))) = std::move(value);
    return map.set(name, std::move(list));
  }
  if (dot == std::string::npos) return map.set(key, std::move(value));
  const auto name = key.substr(0, dot), inner = key.substr(dot + 1);
  const auto& record = *option_of(where, name).shape;
  const bool removed = value.is_null() && record.shorthand == inner;
  if (removed && !record.list_shorthand.empty())
    for (const auto& child : record.children)
      if (child.key == record.list_shorthand) return map.set(name, list_of(child, 2));
  auto* there = map.find(name);
  if (there == nullptr || !there->is_map()) map.set(name, Node::map()), there = map.find(name);
  there->set(inner, std::move(value));
}

Node off(const Shape& option) {
  if (option.nullable) return {};
  if (option.kind == Shape::Kind::boolean) return word("false");
  if (option.kind == Shape::Kind::list) return Node::list();
  if (option.kind == Shape::Kind::table) return Node::map();
  return word("0");
}

Node on(const Shape& option) {
  if (option.kind == Shape::Kind::boolean) return word("true");
  if (is_number(option)) return word(format_number(numbers_of(option).at(0)));
  if (option.kind == Shape::Kind::list)
    return list_of(option, option.lengths.empty() ? 2 : option.lengths.back());
  if (option.kind == Shape::Kind::text && option.example.empty()) return word("some");
  if (option.kind == Shape::Kind::record && option.children[0].key == option.shorthand)
    return on(option.children[0]);
  return example_value(option, all_catalogs());
}

/// Another value than this one.
Node other(const Shape& option, const std::string& value) {
  if (option.kind == Shape::Kind::boolean) return word(value == "true" ? "false" : "true");
  for (const auto& one : option.words)
    if (one != value) return word(one);
  if (option.kind == Shape::Kind::size) return word(value == "1 MiB" ? "2 MiB" : "1 MiB");
  for (const double number : numbers_of(option))
    if (number != parse_number(value)) return word(format_number(number));
  return {};
}

Node value_for(const Condition& condition, const Shape& option, bool met) {
  const auto divisor = parse_number(condition.value).value_or(1);
  switch (condition.test) {
    case Test::set:
      return met ? on(option) : off(option);
    case Test::unset:
      return met ? off(option) : on(option);
    case Test::is:
      return met ? word(condition.value) : other(option, condition.value);
    case Test::is_not:
      return met ? other(option, condition.value) : word(condition.value);
    case Test::multiple_of:
      break;
  }
  return word(format_number(met ? 4 * divisor : 4 * divisor + 1));
}

void set_condition(Node& map, const Where& where, const Condition& condition, bool met) {
  const auto& option = *option_of(where, condition.key).shape;
  set_option(map, where, condition.key, value_for(condition, option, met));
}

bool fits_numbers(const Constraint& constraint, double a, double b) {
  switch (constraint.kind) {
    case Kind::divides:
      return std::fmod(b, a) == 0;
    case Kind::at_most:
      return a <= b;
    case Kind::below:
      return a < b;
    default:
      return constraint.below_max ? a * b < constraint.max : a * b <= constraint.max;
  }
}

/// Both options as written, so that a relation is kept or broken; of the options' own numbers.
Node with_numbers(const Where& where, const Constraint& constraint, bool kept) {
  const auto& a = constraint.of[0].key;
  const auto& b = constraint.of[1].key;
  for (const double x : numbers_of(*option_of(where, a).shape))
    for (const double y : numbers_of(*option_of(where, b).shape)) {
      if (x == 0 || fits_numbers(constraint, x, y) != kept) continue;
      auto map = where.base;
      set_option(map, where, a, word(format_number(x)));
      set_option(map, where, b, word(format_number(y)));
      return map;
    }
  ADD_FAILURE() << where.name << ": no numbers for '" << a << "' and '" << b << "'";
  return where.base;
}

Node with_lists(const Where& where, const Constraint& constraint, std::size_t first) {
  auto map = where.base;
  const auto& of = constraint.of;
  set_option(map, where, of[0].key, list_of(*option_of(where, of[0].key).shape, first));
  set_option(map, where, of[1].key, list_of(*option_of(where, of[1].key).shape, 3));
  return map;
}

/// With this one set and the others, where defaults or needs have set them, not.
Node with_one(const Where& where, const Constraint& constraint, std::size_t set) {
  auto map = where.base;
  for (std::size_t i = 0; i < constraint.of.size(); ++i) {
    const auto found = option_of(where, constraint.of[i].key);
    if (i == set || (found.value && holds(Condition(constraint.of[i].key.c_str()), *found.value)))
      set_condition(map, where, Condition(constraint.of[i].key.c_str()), i == set);
  }
  return map;
}

bool same(const Condition& a, const Condition& b) {
  return a.key == b.key && a.test == b.test && a.value == b.value;
}

/// Keeps the other constraints where this one needs an option that they are about.
void settle_others(Node& map, const Where& where, const Constraint& constraint) {
  const auto& of = constraint.of;
  for (const auto& other : where.record.constraints) {
    if (&other == &constraint) continue;
    const bool twin =
        other.kind == Kind::needs && constraint.kind == Kind::needs && same(other.of[0], of[0]);
    const bool follows =
        other.kind == Kind::needs && constraint.kind == Kind::needs && other.of[0].key == of[1].key;
    if ((twin && other.of[1].key != of[1].key) || follows)
      set_condition(map, where, other.of[1], true);
    const bool divides = other.kind == Kind::divides && constraint.kind == Kind::needs;
    if (divides && other.of[1].key == of[1].key) set_option(map, where, other.of[0].key, word("1"));
    const bool chooses = other.kind == Kind::exactly_one && constraint.kind != Kind::exactly_one;
    const auto is_first = [&](const Condition& option) { return option.key == of[0].key; };
    if (!chooses || std::none_of(other.of.begin(), other.of.end(), is_first)) continue;
    for (const auto& option : other.of)
      if (option.key != of[0].key)
        std::erase_if(map.members, [&](const Member& member) { return member.key == option.key; });
  }
}

void set_needs(Node& map, const Where& where, const Constraint& constraint, bool met) {
  const auto& [when, then] = std::pair(constraint.of[0], constraint.of[1]);
  set_condition(map, where, when, true);
  const auto& option = *option_of(where, when.key).shape;
  if (when.test == Test::set && is_number(option))  // above the number of the other
    set_option(map, where, when.key, word(format_number(numbers_of(option).at(1))));
  set_condition(map, where, then, met);
}

Node base_of(const Where& where, const Constraint& constraint) {
  auto map = where.base;
  if (constraint.kind == Kind::exactly_one)
    for (const auto& option : constraint.of)
      std::erase_if(map.members, [&](const Member& member) {
        return member.key == option.key.substr(0, option.key.find('.'));
      });
  settle_others(map, where, constraint);
  return map;
}

}  // namespace

Example broken(const Where& where, const Constraint& constraint) {
  const Where here{where.name, where.record, base_of(where, constraint), where.whole, where.path};
  auto map = here.base;
  const auto& of = constraint.of;
  switch (constraint.kind) {
    case Kind::needs:
      set_needs(map, here, constraint, false);
      return {map, of[0].key};
    case Kind::always:
      set_condition(map, here, of[0], false);
      return {map, of[0].key};
    case Kind::exactly_one:
      map = with_one(here, constraint, of.size());
      return {map, map.find(of[0].key) ? of[0].key : ""};
    case Kind::not_both:
      set_condition(map, here, Condition(of[0].key.c_str()), true);
      set_condition(map, here, Condition(of[1].key.c_str()), true);
      return {map, of[0].key};
    case Kind::as_many:
    case Kind::one_or_as_many:
      return {with_lists(here, constraint, 2), of[0].key};
    default:
      return {with_numbers(here, constraint, false), of[0].key};
  }
}

/// Leaves `key` alone of those of which exactly one may be there.
void give_way_to(const std::string& key, Node& map, const Shape& record) {
  for (const auto& other : record.constraints) {
    const auto is_it = [&](const Condition& each) { return each.key == key; };
    if (other.kind != Kind::exactly_one || std::ranges::none_of(other.of, is_it)) continue;
    std::erase_if(map.members, [&](const Member& member) {
      return member.key != key && std::ranges::any_of(other.of, [&](const auto& each) {
               return each.key == member.key;
             });
    });
  }
}

Node kept(const Where& where, const Constraint& constraint) {
  if (constraint.kind == Kind::exactly_one) return where.base;
  const Where here{where.name, where.record, base_of(where, constraint), where.whole, where.path};
  auto map = here.base;
  const auto& of = constraint.of;
  switch (constraint.kind) {
    case Kind::needs:
      set_needs(map, here, constraint, true);
      give_way_to(of[1].key, map, where.record);
      return map;
    case Kind::always:
      set_condition(map, here, of[0], true);
      return map;
    case Kind::not_both:
      return with_one(here, constraint, 0);
    case Kind::as_many:
    case Kind::one_or_as_many:
      return with_lists(here, constraint, 3);
    default:
      return with_numbers(here, constraint, true);
  }
}

Node needed_of(const Shape& record) {
  auto map = Node::map();
  for (const auto& option : record.children)
    if (option.required) map.set(option.key, example_value(option, all_catalogs()));
  Where here{"", record, map, {}, ""};
  for (const auto& constraint : record.constraints) {
    const auto nothing = Node::map();
    if (constraint.kind != Kind::exactly_one || !conflict(constraint, map, record)) continue;
    set_condition(map, here, Condition(constraint.of[0].key.c_str()), true);
    for (const auto& each : record.constraints)  // what that one needs
      if (each.kind == Kind::as_many && each.of[0].key == constraint.of[0].key)
        set_condition(map, here, Condition(each.of[1].key.c_str()), true);
  }
  return map;
}

Node settled(Node map, const Shape& record) {
  for (const auto& constraint : record.constraints) {
    if (constraint.kind != Kind::exactly_one || !conflict(constraint, map, record)) continue;
    const auto written = std::count_if(constraint.of.begin(), constraint.of.end(),
                                       [&](const auto& each) { return map.find(each.key); });
    if (written != 1) continue;
    for (const auto& option : record.children)
      for (const auto& each : constraint.of)
        if (option.key == each.key && option.kind != Shape::Kind::list && !map.find(each.key))
          map.set(each.key, word("null"));
  }
  return map;
}

std::optional<Example> refused(const Where& where, const Shape& option) {
  auto map = where.base;
  const auto with = [&](Node value, const std::string& below = "") -> Example {
    map.set(option.key, std::move(value));
    return {map, option.key + below};
  };
  const bool list = option.kind == Shape::Kind::list;
  if (option.odd && !list) return with(word("2"));
  if (option.multiple_of != 1 && !list) return with(word(std::to_string(option.multiple_of + 1)));
  if (option.in_steps && !list) return with(word("30 s"));
  if (option.in_steps) return with(Node::list({word("30 s")}), "[0]");
  if (option.kind == Shape::Kind::text && option.min_items > 0) return with(Node::quoted_text(""));
  if (option.form != TextForm::any)
    return option.kind == Shape::Kind::table
               ? with(Node::map({{"some", {}, Node::quoted_text("(")}}), ".some")
               : with(Node::quoted_text("("));
  if (option.items == ItemOrder::not_all_zero) return with(Node::list({word("0"), word("0")}));
  if (option.items == ItemOrder::distinct) {
    const auto item = example_value(option.children[0], all_catalogs());
    return with(Node::list({item, item}), "[1]");
  }
  if (option.items != ItemOrder::any) {
    auto numbers = numbers_of(option.children[0]);
    std::sort(numbers.rbegin(), numbers.rend());
    return with(Node::list({word(format_number(numbers[0])), word(format_number(numbers[1]))}),
                "[1]");
  }
  if (option.lengths.empty()) return {};
  return with(list_of(option, option.lengths.back() + 1));
}

}  // namespace ddptrain::test
