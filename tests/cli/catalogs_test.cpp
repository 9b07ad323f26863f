// What must hold for every component that a recipe can name.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "config/decode.h"
#include "config/encode.h"
#include "config/shape.h"
#include "recipe/recipe.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

const std::regex kSnakeCase("[a-z][a-z0-9]*(_[a-z0-9]+)*");

void expect_documented(const Shape& shape, const std::string& where) {
  std::set<std::string> keys;
  for (const auto& child : shape.children) {
    const auto path = where + "." + child.key;
    if (shape.kind == Shape::Kind::record) {
      EXPECT_TRUE(std::regex_match(child.key, kSnakeCase)) << path;
      EXPECT_TRUE(keys.insert(child.key).second) << path << " is declared twice";
      EXPECT_TRUE(child.doc.size() > 1 && child.doc.ends_with('.')) << path << ": " << child.doc;
    }
    EXPECT_LE(child.min, child.max) << path;
    expect_documented(child, path);
  }
}

template <class Claim>
void for_every_component(Claim claim) {
  for (const auto& [kind, catalog] : all_catalogs()) {
    EXPECT_GT(catalog->size(), 0u) << kind;
    for (std::size_t i = 0; i < catalog->size(); ++i) claim(kind, catalog->at(i));
  }
}

TEST(Recipe, EveryOptionIsDocumented) { expect_documented(shape_of<Recipe>(), "recipe"); }

TEST(Catalogs, EveryOptionIsDocumented) {
  for_every_component([](const std::string& kind, const EntryBase& entry) {
    const auto where = kind + "/" + entry.name;
    EXPECT_TRUE(entry.doc.size() > 1 && entry.doc.ends_with('.')) << where << ": " << entry.doc;
    EXPECT_TRUE(std::regex_match(entry.name, std::regex("[a-z][a-z0-9_]*"))) << where;
    expect_documented(entry.shape(), where);
  });
}

TEST(Catalogs, NamesAreUnique) {
  for (const auto& [kind, catalog] : all_catalogs()) {
    const auto names = catalog->names();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << kind;
  }
}

/// "give one of 'pattern', 'labels'"
bool asks_for_one(const Problem& problem) {
  return problem.rule == "option-conflict" && problem.message.starts_with("give one of");
}

/// Required options have no default to check, also where one of several is; every other default
/// must be legal.
TEST(Catalogs, DefaultsPassTheirOwnCheck) {
  for_every_component([](const std::string& kind, const EntryBase& entry) {
    const auto shape = entry.shape();
    Node written = Node::map();
    for (const auto& child : shape.children)
      if (!child.required) written.set(child.key, child.initial);
    for (const auto& problem : check(written, shape, all_catalogs()))
      if (problem.rule != "missing-key" && !asks_for_one(problem))
        ADD_FAILURE() << kind << "/" << entry.name << ": " << render(problem);
  });
}

TEST(Recipe, DefaultsDecodeToThemselves) {
  Recipe fresh;
  const auto written = encode(fresh);
  auto complete = written;
  complete.set("model", Node::scalar("mlp"));
  complete.set("data", Node::map({{"type", {}, Node::scalar("mnist")}}));
  auto again = decode<Recipe>(complete);
  again.model = Choice<Model>();
  again.data = Choice<Dataset>();
  EXPECT_EQ(to_yaml(encode(again)), to_yaml(written));
}

}  // namespace
}  // namespace ddptrain
