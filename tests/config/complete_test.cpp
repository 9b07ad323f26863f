#include "config/complete.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "config/encode.h"
#include "config/shape.h"
#include "support/node.h"

namespace ddptrain {
namespace {

struct Deep {
  std::int64_t depth = 7;
  void fields(Fields& f) { f("depth", depth, {.doc = "Depth."}); }
};

struct Part {
  std::string file;
  bool strict = true;
  std::optional<Deep> deep;
  std::map<std::string, std::string> names;
  static constexpr std::string_view shorthand = "file";
  void fields(Fields& f) {
    f("file", file, {.doc = "File.", .required = true});
    f("strict", strict, {.doc = "Strict."});
    f("deep", deep, {.doc = "Deep."});
    f("names", names, {.doc = "Names."});
  }
};

struct Rate {
  double to = 0.1;
  std::optional<double> from;
  static constexpr std::string_view shorthand = "to";
  void fields(Fields& f) {
    f("to", to, {.doc = "To."});
    f("from", from, {.doc = "From."});
  }
};

struct Rates {
  Rate rate;
  void fields(Fields& f) { f("rate", rate, {.doc = "Rate."}); }
};

struct Whole {
  std::optional<Part> part;
  std::vector<Part> parts;
  std::vector<double> betas{0.9, 0.999};
  void fields(Fields& f) {
    f("part", part, {.doc = "Part."});
    f("parts", parts, {.doc = "Parts."});
    f("betas", betas, {.doc = "Betas."});
  }
};

struct Width {
  Auto<std::int64_t> width;
  void fields(Fields& f) { f("width", width, {.doc = "Width."}); }
};

struct Widths {
  std::optional<Width> part;
  void fields(Fields& f) { f("part", part, {.doc = "Part."}); }
};

std::string completed(const char* json) {
  const auto node = to_node(nlohmann::json::parse(json));
  return to_yaml(complete(node, shape_of<Whole>(), {}));
}

TEST(Complete, LeavesAnOptionalRecordAbsent) {
  EXPECT_EQ(completed("{}"), "part: null\nparts: []\nbetas: [0.9, 0.999]\n");
}

TEST(Complete, GivesAnOptionalRecordItsOwnDefaults) {
  EXPECT_EQ(completed(R"({"part": "a.pth", "betas": []})"),
            "part: {file: a.pth, strict: true, deep: null, names: {}}\nparts: []\nbetas: []\n");
  EXPECT_EQ(completed(R"({"part": {"file": "a", "deep": {}}, "betas": []})"),
            "part: {file: a, strict: true, deep: {depth: 7}, names: {}}\nparts: []\nbetas: []\n");
}

TEST(Complete, GivesRecordsOfAListTheirDefaults) {
  EXPECT_EQ(completed(R"({"parts": ["a"], "betas": []})"),
            "part: null\nparts:\n  - {file: a, strict: true, deep: null, names: {}}\nbetas: []\n");
}

TEST(Complete, LeavesARecordShortThatSaysNoMore) {
  const auto rate = [](const nlohmann::json& value) {
    return to_yaml(complete(to_node({{"rate", value}}), shape_of<Rates>(), {}));
  };
  EXPECT_EQ(rate(0.5), "rate: 0.5\n");
  EXPECT_EQ(rate({{"to", 0.5}}), "rate: 0.5\n");
  EXPECT_EQ(rate({{"from", 0.2}}), "rate: {to: 0.1, from: 0.2}\n");
}

TEST(Complete, AutoIsTheDefaultInWhatMayBeAbsentToo) {
  const auto tree = Node::map({{"part", {}, Node::map()}});
  const auto whole = complete(tree, shape_of<Widths>(), {});
  EXPECT_EQ(whole.find("part")->find("width")->text, "auto");
}

}  // namespace
}  // namespace ddptrain
