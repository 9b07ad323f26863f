// What must hold for every component that a recipe can name.
#include <gtest/gtest.h>

#include <cmath>
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

/// What an option is, for the claims below: its shape and "optimizer/sgd.momentum".
struct NumberOption {
  const Shape& shape;
  std::string path;
  bool is_bounded() const { return std::isfinite(shape.min) || std::isfinite(shape.max); }
};

template <class Claim>
void for_each_number(const Shape& shape, const std::string& path, Claim claim) {
  if (shape.kind == Shape::Kind::integer || shape.kind == Shape::Kind::number)
    claim(NumberOption{shape, path});
  for (const auto& child : shape.children)
    for_each_number(child, child.key.empty() ? path + "[]" : path + "." + child.key, claim);
}

template <class Claim>
void for_every_number(Claim claim) {
  for_each_number(shape_of<Recipe>(), "recipe", claim);
  for_every_component([&](const std::string& kind, const EntryBase& entry) {
    for_each_number(entry.shape(), kind + "/" + entry.name, claim);
  });
}

/// Options that take any number.
bool ranges_over_all_numbers(const std::string& path) {
  static const std::regex known(
      "recipe\\.(train|train\\.stages\\[\\])\\.freeze_to"  // layer groups, from the last below 0
      "|recipe\\.expect\\[\\]\\.(min|max)"                 // bounds of a metric, whatever it is
      "|recipe\\.sweep\\.keys\\[\\]\\.(min|max)"           // of an option, which has its own range
      "|data/.*\\.fill_value"                              // of a column, whatever it holds
      "|loss/.*\\.ignore_index"                            // -100 is usual
      "|metric/.*\\.threshold"                   // of outputs as they are (rule `threshold`)
      "|model/.*\\.y_(range|scale)\\[\\]"        // of a number to predict
      "|optimizer/muon\\.ns_coefficients\\[\\]"  // a polynomial
      "|transform/.*\\.fill"                     // after normalize below 0 too
      "|transform/normalize\\.mean\\[\\]"        // rule `unusual-value`
      "|transform/random_erasing\\.value\\[\\]");
  return std::regex_match(path, known);
}

TEST(Catalogs, EveryNumberHasARange) {
  int numbers = 0;
  for_every_number([&](const NumberOption& option) {
    ++numbers;
    EXPECT_TRUE(option.is_bounded() || ranges_over_all_numbers(option.path)) << option.path;
    EXPECT_FALSE(option.is_bounded() && ranges_over_all_numbers(option.path))
        << option.path << " has a range now; take it off the list";
  });
  EXPECT_GT(numbers, 400);
}

/// What the sentence of an option says it is, it is.
TEST(Catalogs, SharesAndDecayRatesAreWithin0And1) {
  static const std::regex within("(Probability|Share of|How likely|Decay rate|Momentum).*");
  static const std::regex key("momentum|dampening|betas|moms|nus|rho|p|dropout|.*_p|.*dropout");
  int found = 0;
  for_every_number([&](const NumberOption& option) {
    const auto name = option.path.substr(option.path.rfind('.') + 1);
    const bool list = name.ends_with("[]");
    if (!std::regex_match(option.shape.doc, within) &&
        !std::regex_match(list ? name.substr(0, name.size() - 2) : name, key))
      return;
    if (option.path == "clip/norm.p" || option.path.ends_with(".val_xtra")) return;
    EXPECT_GE(option.shape.min, 0) << option.path;
    EXPECT_LE(option.shape.max, 1) << option.path;
    ++found;
  });
  EXPECT_GT(found, 40);
}

// PyTorch's own optimizers refuse a momentum below 0, betas of 1 and more; nothing converges with
// a momentum of 1.
TEST(Catalogs, MomentumIsBelow1) {
  for_every_number([](const NumberOption& option) {
    if (!option.path.starts_with("optimizer/") || !option.path.ends_with(".momentum")) return;
    EXPECT_EQ(option.shape.min, 0) << option.path;
    EXPECT_EQ(option.shape.max, 1) << option.path;
    EXPECT_TRUE(option.shape.below_max) << option.path;
  });
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
