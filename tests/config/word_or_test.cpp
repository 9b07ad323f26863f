// Options that are a value or one of a few words.
#include <gtest/gtest.h>

#include <array>

#include "base/json.h"
#include "config/complete.h"
#include "config/decode.h"
#include "config/encode.h"
#include "config/option_text.h"
#include "config/schema/schema.h"
#include "config/shape.h"
#include "config/shape_json.h"
#include "config/yaml/reader.h"

namespace ddptrain {

enum class Extent { row, page };
std::span<const std::string_view> names(Extent) {
  static constexpr std::array<std::string_view, 2> words{"row", "page"};
  return words;
}

namespace {

struct ExtentOptions {
  WordOr<Extent, std::int64_t> size = Extent::page;
  Auto<WordOr<Extent, std::int64_t>> group;
  WordOr<Extent, Duration> every = epochs(1);
  void fields(Fields& f) {
    f("size", size, {.doc = "Size.", .min = 1});
    f("group", group, {.doc = "Group.", .min = 1});
    f("every", every, {.doc = "Every."});
  }
};

ExtentOptions extent_options(const std::string& text) {
  return decode<ExtentOptions>(read_yaml(text, "a.yaml").tree);
}

std::string first_message(const std::string& text) {
  const auto problems = check(read_yaml(text, "a.yaml").tree, shape_of<ExtentOptions>(), {});
  return problems.empty() ? "" : problems.front().message;
}

TEST(WordOrValue, IsDecodedAsWhatIsWritten) {
  const auto words = extent_options("{size: row, group: page, every: row}");
  EXPECT_EQ(*words.size.word(), Extent::row);
  EXPECT_EQ(words.size.value(), nullptr);
  EXPECT_EQ(*words.group.value->word(), Extent::page);
  EXPECT_EQ(*words.every.word(), Extent::row);
  const auto values = extent_options("{size: 8, group: 4, every: 3 steps}");
  EXPECT_EQ(*values.size.value(), 8);
  EXPECT_EQ(values.size.word(), nullptr);
  EXPECT_EQ(*values.group.value->value(), 4);
  EXPECT_EQ(*values.every.value(), steps(3));
  EXPECT_TRUE(extent_options("group: auto").group.automatic());
}

TEST(WordOrValue, IsEncodedAsItIsWritten) {
  for (const std::string text :
       {"{size: page, group: auto, every: 1 epoch}", "{size: 3, group: row, every: page}"}) {
    auto options = extent_options(text);
    EXPECT_EQ(to_flow(encode(options)), text);
  }
}

TEST(WordOrValue, HasItsWordsAndDefaultInTheShape) {
  const auto shape = shape_of<ExtentOptions>();
  const auto& size = shape.children[0];
  EXPECT_EQ(size.kind, Shape::Kind::integer);
  EXPECT_EQ(size.words, (std::vector<std::string>{"row", "page"}));
  EXPECT_EQ(size.initial.text, "page");
  EXPECT_EQ(shape.children[1].initial.text, "auto");
  EXPECT_EQ(type_text(size), "integer, at least 1, or row, or page");
  EXPECT_EQ(type_text(shape.children[1]), "integer, at least 1, or row, or page, or auto");
  const auto again = shape_from_json(to_json(shape));
  EXPECT_EQ(again.children[0].words, size.words);
  EXPECT_EQ(to_flow(complete(read_yaml("size: row", "a.yaml").tree, again, {})),
            "{size: row, group: auto, every: 1 epoch}");
}

TEST(WordOrValue, OtherwiseIsAProblemThatNamesItsWords) {
  EXPECT_EQ(first_message("{size: page, group: auto}"), "");
  EXPECT_EQ(first_message("{size: 1, group: row, every: page}"), "");
  EXPECT_EQ(first_message("size: column"), "'column' is not an integer; or write row or page");
  EXPECT_EQ(first_message("size: 0"), "0 is below the minimum 1; or write row or page");
  EXPECT_EQ(first_message("group: [row]"),
            "this is a list; an integer was expected; or write row or page or auto");
  const auto near = check(read_yaml("size: pag", "a.yaml").tree, shape_of<ExtentOptions>(), {});
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0].suggestion, "page");
}

TEST(WordOrValue, IsInTheSchema) {
  const auto schema = Json::parse(json_schema(shape_of<ExtentOptions>(), {}));
  const auto& numbers = schema.at("definitions").at("integer.row.page");
  EXPECT_TRUE(numbers.at("pattern").get<std::string>().starts_with("^row$|^page$|"));
  EXPECT_EQ(numbers.at("patternErrorMessage"), "Not an integer; or write row or page.");
  const auto every = schema.at("properties").at("every").dump();
  EXPECT_NE(every.find(R"({"const":"row"},{"const":"page"})"), std::string::npos) << every;
}

}  // namespace
}  // namespace ddptrain
