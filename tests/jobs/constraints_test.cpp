// What components declare of their options holds for recipes: each constraint, and each condition
// of one option, is broken by a fragment that its kind and the options' ranges give, and is then
// the only problem, at its key; the least legal change ends it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/encode.h"
#include "config/option_text.h"
#include "config/yaml/reader.h"
#include "jobs/constraint_examples.h"
#include "recipe/layers/address.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

using test::Example;
using test::Where;

/// Written as YAML and read again, so that every value has its place.
Node as_written(const Node& fragment) {
  auto read = read_yaml(to_yaml(fragment), "a.yaml");
  EXPECT_TRUE(read.problems.empty()) << to_yaml(fragment);
  return read.tree;
}

/// {it: a component of this kind}.
Shape holder(const std::string& kind) {
  Shape record, it;
  it.key = "it";
  it.kind = Shape::Kind::component;
  it.component = kind;
  record.children.push_back(it);
  return record;
}

Problems problems_of(const Node& written, const std::string& kind) {
  return check(written, holder(kind), all_catalogs());
}

/// The problem of this id at this key and its value's place, and no other.
void expect_only(const Where& where, const std::string& kind, const Example& example,
                 const std::string& rule, const std::string& what) {
  const auto tree = as_written(where.whole(example.map));
  const auto found = problems_of(tree, kind);
  const auto path = example.key.empty() ? where.path : where.path + "." + example.key;
  ASSERT_EQ(found.size(), 1U) << where.name << ": " << what << "\n"
                              << to_yaml(tree) << render(found);
  EXPECT_EQ(found[0].rule, rule) << render(found);
  EXPECT_EQ(found[0].path, path) << what;
  const auto* value = find_at(tree, *read_address(path));
  if (value == nullptr) return;  // the option of a shorthand
  EXPECT_EQ(found[0].place.line, value->place.line) << what;
  EXPECT_EQ(found[0].place.column, value->place.column) << what;
}

void expect_good(const Where& where, const std::string& kind, const Node& map,
                 const std::string& what) {
  const auto tree = as_written(where.whole(map));
  EXPECT_EQ(render(problems_of(tree, kind)), "") << where.name << ": " << what << "\n"
                                                 << to_yaml(tree);
}

struct Counts {
  int constraints = 0, specs = 0;
};

void try_record(const Where& where, const std::string& kind, Counts& counts) {
  const auto& record = where.record;
  const auto texts = constraint_texts(record);
  for (std::size_t i = 0; i < record.constraints.size(); ++i) {
    const auto& constraint = record.constraints[i];
    const bool chooses = constraint.kind == Constraint::Kind::exactly_one;
    auto example = broken(where, constraint);
    if (!chooses) example.map = test::settled(std::move(example.map), record);
    expect_only(where, kind, example, "option-conflict", texts[i]);
    expect_good(where, kind, test::settled(kept(where, constraint), record), texts[i]);
    ++counts.constraints;
  }
  for (const auto& option : record.children)
    if (const auto example = refused(where, option)) {
      expect_only(where, kind, *example, "bad-value", option.key + ": " + type_text(option));
      ++counts.specs;
    }
}

/// The record and those within it.
void try_all(const Where& where, const std::string& kind, Counts& counts) {
  try_record(where, kind, counts);
  for (const auto& option : where.record.children) {
    const bool list = option.kind == Shape::Kind::list;
    const auto& inner = list ? option.children[0] : option;
    if (inner.kind != Shape::Kind::record) continue;
    const auto whole = [=](Node map) {
      auto outer = where.base;
      outer.set(option.key, list ? Node::list({std::move(map)}) : std::move(map));
      return where.whole(test::settled(std::move(outer), where.record));
    };
    try_all({where.name + ", " + option.key, inner, test::needed_of(inner), whole,
             where.path + "." + option.key + (list ? "[0]" : "")},
            kind, counts);
  }
}

TEST(Constraints, OfEveryComponentAreFoundWhereTheyAreBroken) {
  Counts counts;
  for (const auto& [kind, catalog] : all_catalogs())
    for (std::size_t i = 0; i < catalog->size(); ++i) {
      const auto& entry = catalog->at(i);
      const auto whole = [&](Node map) {
        auto component = Node::map();
        component.set("type", Node::scalar(entry.name));
        for (auto& member : map.members) component.set(member.key, std::move(member.value));
        auto tree = Node::map();
        tree.set("it", std::move(component));
        return tree;
      };
      try_all({kind + " " + entry.name, entry.shape(), test::needed_of(entry.shape()), whole, "it"},
              kind, counts);
    }
  EXPECT_GE(counts.constraints, 50);
  EXPECT_GE(counts.specs, 40);
}

}  // namespace
}  // namespace ddptrain
