// Each kind of constraint: what keeps it, what breaks it, where that is reported, and its sentence.
#include "config/constraint.h"

#include <gmock/gmock.h>

#include <array>
#include <nlohmann/json.hpp>

#include "config/option_text.h"
#include "config/shape_json.h"
#include "config/yaml/reader.h"

namespace ddptrain {

enum class Wording { fastai, torch, plain };
std::span<const std::string_view> names(Wording) {
  static constexpr std::array<std::string_view, 3> words{"fastai", "torch", "plain"};
  return words;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct SideOrSides {
  static constexpr std::string_view shorthand = "side";
  static constexpr std::string_view list_shorthand = "sides";
  std::optional<std::int64_t> side;
  std::vector<std::int64_t> sides;
  void fields(Fields& f) {
    f("side", side, {.doc = "One."});
    f("sides", sides, {.doc = "Two.", .lengths = {0, 2}});
    f.require(exactly_one({"side", "sides"}));
  }
};

struct Related {
  Wording like = Wording::fastai;
  bool three = false, flip = true, vertical = false;
  std::int64_t heads = 4, dim = 128, low = 1, high = 3;
  Auto<std::int64_t> bins;
  std::vector<std::int64_t> layers{8, 8}, stem{32, 64};
  std::vector<double> shares, mean, deviation{0.5, 0.5};
  double mult = 1, warp = 0.2;
  std::optional<double> fraction = 0.2;
  std::optional<std::string> column;
  SideOrSides size;
  std::optional<std::int64_t> most;
  void fields(Fields& f);
};

void Related::fields(Fields& f) {
  f("like", like, {.doc = "Like."});
  f("three", three, {.doc = "Three."});
  f("flip", flip, {.doc = "Flip."});
  f("vertical", vertical, {.doc = "Vertical."});
  f("heads", heads, {.doc = "Heads."});
  f("dim", dim, {.doc = "Dim."});
  f("low", low, {.doc = "Low."});
  f("high", high, {.doc = "High."});
  f("bins", bins, {.doc = "Bins."});
  f("layers", layers, {.doc = "Layers."});
  f("stem", stem, {.doc = "Stem."});
  f("shares", shares, {.doc = "Shares."});
  f("mean", mean, {.doc = "Mean."});
  f("deviation", deviation, {.doc = "Deviation."});
  f("mult", mult, {.doc = "Mult."});
  f("warp", warp, {.doc = "Warp."});
  f("fraction", fraction, {.doc = "Fraction."});
  f("column", column, {.doc = "Column."});
  f("size", size, {.doc = "Size."});
  f("most", most, {.doc = "Most."});
  f.require(needs("three", is("like", "torch")));
  f.require(needs("vertical", "flip"));
  f.require(needs(is("like", "plain"), is_not("heads", "8")));
  f.require(needs("vertical", unset("three")));
  f.require(needs("vertical", multiple_of("dim", 2)));
  f.require(always(multiple_of("stem[1]", 4)));
  f.require(divides("heads", "dim"));
  f.require(at_most("low", "high"));
  f.require(below("high", "bins"));
  f.require(as_many("shares", "layers"));
  f.require(one_or_as_many("deviation", "layers"));
  f.require(not_both("mean", "shares"));
  f.require(exactly_one({"fraction", "column"}));
  f.require(product_at_most("mult", "warp", 0.5));
  f.require(needs("most", "size.side"));
  f.require(below("size.side", "most"));
}

/// "line:column rule path: message" of each problem.
std::vector<std::string> conflicts_in(const std::string& yaml, const Shape& shape) {
  std::vector<std::string> all;
  for (const auto& p : check(read_yaml(yaml, "a.yaml").tree, shape, {}))
    all.push_back(std::to_string(p.place.line) + ":" + std::to_string(p.place.column) + " " +
                  p.rule + " " + p.path + ": " + p.message);
  return all;
}

std::vector<std::string> conflicts_in(const std::string& yaml) {
  return conflicts_in(yaml, shape_of<Related>());
}

std::string conflict_at(const std::string& where, const std::string& message) {
  const auto blank = where.find(' ');
  return where.substr(0, blank) + " option-conflict" + where.substr(blank) + ": " + message;
}

TEST(Constraints, AreKeptByTheDefaults) {
  EXPECT_THAT(conflicts_in("{}"), IsEmpty());
  EXPECT_TRUE(defaults_agree(shape_of<Related>()));
  EXPECT_FALSE(defaults_agree(shape_of<SideOrSides>()));
}

TEST(Constraints, AnOptionNeedsAValueOfAnother) {
  EXPECT_THAT(conflicts_in("{three: true}"),
              ElementsAre(conflict_at("1:9 three",
                                      "'three: true' needs 'like: torch'; it is "
                                      "fastai by default")));
  EXPECT_THAT(conflicts_in("{like: plain, three: true}"),
              ElementsAre(conflict_at("1:22 three",
                                      "'three: true' needs 'like: torch'; it is "
                                      "plain")));
  EXPECT_THAT(conflicts_in("{like: torch, three: true}"), IsEmpty());
  EXPECT_THAT(conflicts_in("{like: fastai, three: false}"), IsEmpty());
}

TEST(Constraints, AnOptionNeedsAnotherSet) {
  EXPECT_THAT(conflicts_in("{flip: false, vertical: true}"),
              ElementsAre(conflict_at("1:25 vertical", "'vertical: true' needs 'flip: true'")));
  EXPECT_THAT(conflicts_in("{vertical: true}"), IsEmpty());
}

TEST(Constraints, AnOptionExcludesAnother) {
  EXPECT_THAT(conflicts_in("{like: torch, three: true, vertical: true}"),
              ElementsAre(conflict_at("1:38 vertical", "'vertical: true' excludes 'three'")));
  EXPECT_THAT(conflicts_in("{like: plain, heads: 8.0}").size(), 1U) << "8.0 is 8";
  EXPECT_THAT(
      conflicts_in("{like: plain, heads: 8}"),
      ElementsAre(conflict_at("1:8 like", "'like: plain' needs 'heads' other than 8; it is 8")));
}

TEST(Constraints, ANumberIsAMultiple) {
  EXPECT_THAT(
      conflicts_in("{heads: 1, dim: 7, vertical: true}"),
      ElementsAre(conflict_at("1:30 vertical", "'vertical: true' needs an even 'dim'; it is 7")));
  EXPECT_THAT(
      conflicts_in("{stem: [3, 30]}"),
      ElementsAre(conflict_at("1:12 stem[1]", "it takes a multiple of 4 as 'stem[1]'; it is 30")));
  EXPECT_THAT(conflicts_in("{stem: [3]}"), IsEmpty()) << "an item that is not there";
}

TEST(Constraints, ANumberDividesAnother) {
  EXPECT_THAT(
      conflicts_in("{heads: 3}"),
      ElementsAre(conflict_at("1:9 heads", "'heads: 3' does not divide 'dim: 128' (the default)")));
  EXPECT_THAT(
      conflicts_in("{dim: 6}"),
      ElementsAre(conflict_at("1:7 dim", "'heads: 4' (the default) does not divide 'dim: 6'")));
  EXPECT_THAT(conflicts_in("{heads: 0}").size(), 1U);
  EXPECT_THAT(conflicts_in("{heads: 3, dim: 9}"), IsEmpty());
}

TEST(Constraints, ANumberIsAtMostAnother) {
  EXPECT_THAT(conflicts_in("{low: 5, high: 4}"),
              ElementsAre(conflict_at("1:7 low", "'low: 5' is above 'high: 4'")));
  EXPECT_THAT(conflicts_in("{low: 4, high: 4}"), IsEmpty());
}

TEST(Constraints, ANumberIsBelowAnother) {
  EXPECT_THAT(conflicts_in("{high: 4, bins: 4}"),
              ElementsAre(conflict_at("1:8 high", "'high: 4' is not below 'bins: 4'")));
  EXPECT_THAT(conflicts_in("{high: 4, bins: 5}"), IsEmpty());
  EXPECT_THAT(conflicts_in("{high: 4, bins: auto}"), IsEmpty()) << "known later";
}

TEST(Constraints, AListHasAsManyItemsAsAnother) {
  EXPECT_THAT(conflicts_in("{shares: [1, 2, 3]}"),
              ElementsAre(conflict_at("1:10 shares",
                                      "'shares' has 3 items, and 'layers' has 2 "
                                      "items by default")));
  EXPECT_THAT(conflicts_in("{shares: [1], layers: [2], deviation: [1]}"), IsEmpty());
  EXPECT_THAT(conflicts_in("{deviation: [], layers: [1, 2, 3]}"),
              ElementsAre(conflict_at("1:13 deviation",
                                      "'deviation' has 0 items, and 'layers' has 3 items")))
      << "none is not its default";
  EXPECT_THAT(conflicts_in("{deviation: [1], layers: [1, 2, 3]}"), IsEmpty()) << "one for all";
}

TEST(Constraints, OneOfSeveralIsGiven) {
  EXPECT_THAT(conflicts_in("{column: x}"), IsEmpty()) << "it replaces the default";
  EXPECT_THAT(conflicts_in("{fraction: 0.3, column: x}"),
              ElementsAre(conflict_at("1:12 fraction",
                                      "'fraction' and 'column' exclude each other; give one of "
                                      "them, null removes the other")));
  EXPECT_THAT(conflicts_in("{fraction: null}"),
              ElementsAre(conflict_at("1:2 fraction", "give one of 'fraction', 'column'")));
  EXPECT_THAT(conflicts_in("{fraction: null, column: x}"), IsEmpty());
  EXPECT_THAT(conflicts_in("{mean: [1], shares: [1, 1]}"),
              ElementsAre(conflict_at("1:8 mean",
                                      "'mean' and 'shares' exclude each other; give one of them, "
                                      "null removes the other")));
}

TEST(Constraints, AProductIsBounded) {
  EXPECT_THAT(conflicts_in("{mult: 3}"),
              ElementsAre(conflict_at("1:8 mult",
                                      "'mult: 3' times 'warp: 0.2' (the default) is above 0.5")));
  EXPECT_THAT(conflicts_in("{mult: 2, warp: 0.25}"), IsEmpty());
}

TEST(Constraints, ReachIntoARecordAndItsShorthands) {
  EXPECT_THAT(conflicts_in("{size: 8, most: 9}"), IsEmpty());
  EXPECT_THAT(conflicts_in("{size: {side: 8}, most: 9}"), IsEmpty());
  EXPECT_THAT(conflicts_in("{size: 9, most: 9}"),
              ElementsAre(conflict_at("1:8 size.side", "'size: 9' is not below 'most: 9'")));
  EXPECT_THAT(conflicts_in("{size: [8, 8], most: 9}"),
              ElementsAre(conflict_at("1:22 most", "'most' needs one value as 'size'")));
  EXPECT_THAT(conflicts_in("{size: []}"),
              ElementsAre(conflict_at("1:8 size", "give one of 'side', 'sides'")));
  EXPECT_THAT(conflicts_in("{size: {side: 8, sides: [8, 8]}}").size(), 1U);
}

TEST(Constraints, AllAreReportedAtOnceButForOptionsWithAProblemOfTheirOwn) {
  EXPECT_THAT(conflicts_in("{three: true, heads: 3, low: 5}").size(), 3U);
  EXPECT_THAT(conflicts_in("{three: 5, heads: 3}"),
              ElementsAre("1:9 bad-value three: '5' is not true or false",
                          conflict_at("1:19 heads",
                                      "'heads: 3' does not divide 'dim: 128' (the default)")));
}

TEST(Constraints, HaveASentenceEach) {
  EXPECT_THAT(
      constraint_texts(shape_of<Related>()),
      ElementsAre("'three: true' needs 'like: torch'.", "'vertical: true' needs 'flip: true'.",
                  "'like: plain' needs 'heads' other than 8.", "'vertical: true' excludes 'three'.",
                  "'vertical: true' needs an even 'dim'.", "It takes a multiple of 4 as 'stem[1]'.",
                  "'heads' divides 'dim'.", "'low' is at most 'high'.", "'high' is below 'bins'.",
                  "'shares' has as many items as 'layers'.",
                  "'deviation' has one item or as many as 'layers'.",
                  "'mean' and 'shares' exclude each other.",
                  "One of 'fraction', 'column' is given.", "'mult' times 'warp' is at most 0.5.",
                  "'most' needs one value as 'size'.", "'size' is below 'most'."));
}

/// The program reads shapes from a file.
TEST(Constraints, AreTheSameAfterAFile) {
  const auto shape = shape_of<Related>();
  const auto again = shape_from_json(nlohmann::ordered_json::parse(to_json(shape).dump()));
  EXPECT_EQ(to_json(again), to_json(shape));
  EXPECT_EQ(constraint_texts(again), constraint_texts(shape));
  for (const std::string yaml : {"{three: true}", "{heads: 3, mult: 3}", "{size: [8, 8], most: 9}",
                                 "{column: x, stem: [3, 30]}", "{size: [1]}"})
    EXPECT_EQ(conflicts_in(yaml, again), conflicts_in(yaml, shape)) << yaml;
}

struct OneByOne {
  std::int64_t kernel = 3, side = 32;
  std::vector<std::int64_t> kernels{3};
  std::vector<double> sigma{0, 1}, range, weights;
  std::string looked_for = ".", cut = "(.)";
  std::map<std::string, std::string> each;
  std::vector<Wording> order;
  Duration warmup = epochs(1);
  std::string between = ",";
  void fields(Fields& f) {
    f("kernel", kernel, {.doc = "Kernel.", .min = 1, .odd = true});
    f("side", side, {.doc = "SideOrSides.", .multiple_of = 16});
    f("kernels", kernels, {.doc = "Kernels.", .odd = true});
    f("sigma", sigma, {.doc = "Sigma.", .lengths = {0, 2, 4}, .items = ItemOrder::ascending});
    f("range", range, {.doc = "Range.", .items = ItemOrder::increasing});
    f("order", order, {.doc = "Order.", .items = ItemOrder::distinct});
    f("weights", weights, {.doc = "Weights.", .min = 0, .items = ItemOrder::not_all_zero});
    f("looked_for", looked_for, {.doc = "Looked for.", .form = TextForm::pattern});
    f("cut", cut, {.doc = "Cut.", .form = TextForm::pattern_with_group});
    f("each", each, {.doc = "Each.", .form = TextForm::pattern});
    f("warmup", warmup, {.doc = "Warm-up.", .in_steps = true});
    f("between", between, {.doc = "Between.", .min_items = 1});
  }
};

TEST(Specs, SayWhatOneOptionMayBe) {
  const auto alone = [](const std::string& yaml) {
    return conflicts_in(yaml, shape_of<OneByOne>());
  };
  EXPECT_THAT(alone("{kernel: 4}"), ElementsAre("1:10 bad-value kernel: 4 is not odd"));
  EXPECT_THAT(alone("{side: 40}"), ElementsAre("1:8 bad-value side: 40 is not a multiple of 16"));
  EXPECT_THAT(alone("{kernels: [1, 2]}"), ElementsAre("1:15 bad-value kernels[1]: 2 is not odd"));
  EXPECT_THAT(alone("{sigma: [1]}"),
              ElementsAre("1:9 bad-value sigma: 1 item, 0 or 2 or 4 needed"));
  EXPECT_THAT(alone("{sigma: [2, 1]}"),
              ElementsAre("1:13 bad-value sigma[1]: 1 is below the number before it, 2"));
  EXPECT_THAT(alone("{sigma: [1, 1]}"), IsEmpty());
  EXPECT_THAT(alone("{range: [1, 1]}"),
              ElementsAre("1:13 bad-value range[1]: 1 is not above the number before it"));
  EXPECT_THAT(alone("{order: [torch, plain, torch]}"),
              ElementsAre("1:24 bad-value order[2]: 'torch' is listed twice"));
  EXPECT_THAT(alone("{weights: [0, 0.0]}"),
              ElementsAre("1:11 bad-value weights: all items are 0; one at least must be above 0"));
  EXPECT_THAT(alone("{looked_for: '[a'}"),
              ElementsAre("1:14 bad-value looked_for: '[a' is not a regular expression: missing ]: "
                          "[a"));
  EXPECT_THAT(alone("{cut: '(a'}"),
              ElementsAre("1:7 bad-value cut: '(a' is not a regular expression: missing ): (a"));
  EXPECT_THAT(alone("{cut: 'a(?:b)'}"),
              ElementsAre("1:7 bad-value cut: 'a(?:b)' has no group ( )"));
  EXPECT_THAT(alone("{each: {x: '.', y: '*'}}"),
              ElementsAre("1:20 bad-value each.y: '*' is not a regular expression: no argument for "
                          "repetition operator: *"));
  EXPECT_THAT(alone("{warmup: 30 s}").size(), 1U);
  EXPECT_THAT(alone("{warmup: 30 samples}"),
              ElementsAre("1:10 bad-value warmup: '30 samples' is not a number of steps; write "
                          "steps, epochs or a share of the run, such as '5 %'"));
  EXPECT_THAT(alone("{between: ''}"), ElementsAre("1:11 bad-value between: it is empty"));
  EXPECT_THAT(alone("{kernel: 5, side: 48, sigma: [], warmup: 5 %, between: ' '}"), IsEmpty());
  EXPECT_THAT(alone("{weights: [0, 1], looked_for: '[a]', cut: '(a)', each: {x: '^b'}}"),
              IsEmpty());
  EXPECT_THAT(alone("{weights: []}"), IsEmpty());
}

TEST(PlaceWithin, FollowsThePathOfAnOption) {
  const auto tree = read_yaml("{type: x, valid: {list: a, seed: 1}, size: 3}", "a.yaml").tree;
  const auto column = [&](const std::string& option) { return place_within(tree, option).column; };
  EXPECT_EQ(column("data.valid.list"), 25);
  EXPECT_EQ(column("valid.seed"), 34);
  EXPECT_EQ(column("model.size"), 44);
  EXPECT_EQ(column("size"), 44);
  EXPECT_EQ(column("data.valid.fraction"), 1) << "not written: the component's";
  EXPECT_EQ(column("seed"), 1) << "of another map";
}

TEST(Specs, AreToldWithTheType) {
  const auto shape = shape_of<OneByOne>();
  std::vector<std::string> types;
  for (const auto& option : shape.children) types.push_back(type_text(option));
  EXPECT_THAT(
      types,
      ElementsAre("integer, odd, at least 1", "integer, a multiple of 16", "list of: integer, odd",
                  "list of: number, 0 or 2 or 4 items, none below the one before",
                  "list of: number, each above the one before",
                  "list of: fastai | torch | plain, none twice",
                  "list of: number, at least 0, not all 0", "regular expression",
                  "regular expression with a group ( )", "map to: regular expression",
                  "duration, such as 5 epochs, 1000 steps, 75 %", "text"));
}

}  // namespace
}  // namespace ddptrain
