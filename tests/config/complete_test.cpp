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

}  // namespace
}  // namespace ddptrain
