// What a value may be, as plain data: read by check(), the JSON Schema, `describe` and the
// reference, so that none of them needs the options' classes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "config/catalog.h"
#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// The shape of one value. `key`, `doc`, `required`, ranges come from Spec; `initial` is the
/// encoded default.
struct Shape {
  enum class Kind {
    boolean,
    integer,
    number,
    text,
    duration,
    size,
    share,
    word,
    list,
    table,
    record,
    component,
    any  // whatever is written
  };
  Kind kind = Kind::record;
  std::string key;
  std::string doc;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;
  bool below_max = false;
  bool required = false;
  bool path = false;
  AddressUse address = AddressUse::none;
  std::string unit;     // of a bare number
  std::string example;  // a value as YAML
  std::string was;      // the key's former name
  bool nullable = false;
  bool automatic = false;  // "auto" is allowed
  std::size_t min_items = 0;
  std::size_t max_items = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> lengths;
  ItemOrder items = ItemOrder::any;
  TextForm form = TextForm::any;
  bool odd = false;
  std::int64_t multiple_of = 1;
  bool in_steps = false;
  std::vector<std::string> words;  // of a word; of other kinds those allowed in a value's place
  std::string shorthand;           // of a record: the key that a scalar (or list) stands for
  std::string list_shorthand;      // of a record: the key that a list stands for, where it differs
  std::string component;           // the kind of component, "optimizer"
  std::vector<Shape> children;     // of a record its fields; of a list or table one: each item's
  std::vector<Constraint> constraints;  // of a record
  Node initial;
};

/// Words that may stand in place of a value of its kind: "node", then "auto" where it is allowed.
std::vector<std::string> words_in_place(const Shape& shape);
/// Whether a node is one of them.
bool is_in_place(const Node& node, const Shape& shape);

/// The shape of an options struct, by visiting a fresh one.
Shape shape_of(const std::function<void(Fields&)>& fields);

template <class Options>
Shape shape_of() {
  return shape_of([](Fields& f) {
    Options fresh;
    fresh.fields(f);
  });
}

/// The options of both, of two records.
Shape joined(Shape options, const Shape& more);

/// Every problem of a tree against a shape, at once: unknown keys with the nearest name, types,
/// ranges, words, missing required keys, options in conflict; descends into components through the
/// catalogs.
Problems check(const Node& tree, const Shape& shape, const Catalogs& catalogs);

}  // namespace ddptrain
