#include "config/decode.h"

#include <gtest/gtest.h>

#include <array>

#include "config/catalog.h"
#include "support/node.h"

namespace ddptrain {

enum class Shade { light, dark };
std::span<const std::string_view> names(Shade) {
  static constexpr std::array<std::string_view, 2> words{"light", "dark"};
  return words;
}

namespace {

struct Inner {
  std::int64_t count = 1;
  std::vector<std::int64_t> ids;
  static constexpr std::string_view shorthand = "count";
  static constexpr std::string_view list_shorthand = "ids";
  void fields(Fields& f) {
    f("count", count, {.doc = "Count."});
    f("ids", ids, {.doc = "Ids."});
  }
};

struct Options {
  double lr = 0.1;
  bool fast = false;
  std::string name = "none";
  Shade shade = Shade::light;
  std::optional<double> clip = 1;
  Auto<std::int64_t> workers = 3;
  std::vector<double> betas{0.9, 0.999};
  std::map<std::string, Inner> table;
  Inner inner;
  Duration every = epochs(1);
  Choice<Loss> loss{"mse"};
  void fields(Fields& f) {
    f("lr", lr, {.doc = "Rate."});
    f("fast", fast, {.doc = "Fast."});
    f("name", name, {.doc = "Name."});
    f("shade", shade, {.doc = "Shade."});
    f("clip", clip, {.doc = "Clip."});
    f("workers", workers, {.doc = "Workers."});
    f("betas", betas, {.doc = "Betas."});
    f("table", table, {.doc = "Table."});
    f("inner", inner, {.doc = "Inner."});
    f("every", every, {.doc = "Every."});
    f("loss", loss, {.doc = "Loss."});
  }
};

Options read(const char* json) { return decode<Options>(to_node(nlohmann::json::parse(json))); }

TEST(Decode, LeavesAbsentKeysAtTheirDefaults) {
  const auto options = read(R"({"type": "any"})");
  EXPECT_EQ(options.lr, 0.1);
  EXPECT_EQ(options.clip, 1);
  EXPECT_EQ(options.betas.size(), 2u);
  EXPECT_EQ(options.loss.type(), "mse");
}

TEST(Decode, FillsEveryKindOfMember) {
  const auto options = read(R"({"lr": 1, "fast": true, "name": "x", "shade": "dark", "clip": null,
      "workers": "auto", "betas": [0.5], "table": {"a": {"count": 2}, "b": 3},
      "every": "10 steps", "loss": {"type": "huber", "delta": 2}})");
  EXPECT_EQ(options.lr, 1);
  EXPECT_TRUE(options.fast);
  EXPECT_EQ(options.name, "x");
  EXPECT_EQ(options.shade, Shade::dark);
  EXPECT_FALSE(options.clip);
  EXPECT_TRUE(options.workers.automatic());
  EXPECT_EQ(options.betas, std::vector<double>{0.5});
  EXPECT_EQ(options.table.at("a").count, 2);
  EXPECT_EQ(options.table.at("b").count, 3);
  EXPECT_EQ(options.every, steps(10));
  EXPECT_EQ(options.loss.type(), "huber");
  EXPECT_NE(options.loss.node().find("delta"), nullptr);
}

TEST(Decode, AScalarOrAListStandsForARecord) {
  EXPECT_EQ(read(R"({"inner": 7})").inner.count, 7);
  EXPECT_EQ(read(R"({"inner": [0, 2]})").inner.ids, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(read(R"({"inner": {"count": 5}})").inner.count, 5);
}

TEST(DecodeDeathTest, AnUncheckedTreeIsABug) {
  EXPECT_DEATH(read(R"({"lr": "fast"})"), "'fast' is not a number");
}

}  // namespace
}  // namespace ddptrain
