// AnyOptions that take any value, as the values of a sweep are.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "config/complete.h"
#include "config/decode.h"
#include "config/encode.h"
#include "config/option_text.h"
#include "config/shape.h"
#include "config/shape_json.h"
#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

struct AnyOptions {
  std::vector<Node> values;
  std::optional<Node> other;
  void fields(Fields& f) {
    f("values", values, {.doc = "Any values."});
    f("other", other, {.doc = "Another one."});
  }
};

constexpr const char* kText =
    "values: [1e-3, word, null, true, [1, 2], {type: adam, lr: 0.1}, \"5\"]\nother: {a: 1}\n";

TEST(AnyValue, IsKeptAsWritten) {
  const auto tree = read_yaml(kText, "a.yaml").tree;
  const auto shape = shape_of<AnyOptions>();
  EXPECT_TRUE(check(tree, shape, {}).empty());
  auto options = decode<AnyOptions>(tree);
  ASSERT_EQ(options.values.size(), 7U);
  EXPECT_EQ(options.values[0].text, "1e-3");
  EXPECT_TRUE(options.values[6].quoted);
  EXPECT_EQ(to_flow(encode(options)), to_flow(tree));
  EXPECT_EQ(to_flow(complete(tree, shape, {})), to_flow(tree));
}

TEST(AnyValue, IsDescribedAndTravels) {
  const auto shape = shape_of<AnyOptions>();
  EXPECT_EQ(type_text(shape.children[0]), "list of: any value");
  const auto again = shape_from_json(to_json(shape));
  EXPECT_EQ(again.children[0].children[0].kind, Shape::Kind::any);
}

}  // namespace
}  // namespace ddptrain
