// Names in the state of a dataset, also in what older versions wrote.
#include "train/transfer/fitted_names.h"

#include <gmock/gmock.h>

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(FittedNames, OfTextsAreTheirVocabulary) {
  const auto names = fitted_names(R"({"tokenizer": "ab12", "tokenizer_options": {"type": "fastai"},
                                      "vocabulary": ["xxunk", "a"]})");
  ASSERT_EQ(names.columns.size(), 1U);
  EXPECT_TRUE(names.columns[0].is_vocabulary);
  EXPECT_THAT(names.columns[0].values, ElementsAre("xxunk", "a"));
  EXPECT_EQ(names.tokenizer.digest, "ab12");
  EXPECT_THAT(names.tokenizer.options, ElementsAre(Pair("type", "fastai")));
  EXPECT_THAT(fitted_names(R"({"tokenizer": "ab12", "vocabulary": ["a"]})").tokenizer.options,
              IsEmpty());
}

TEST(FittedNames, OfTablesAreColumnsCategoriesAndTargets) {
  const auto names = fitted_names(
      R"({"options": {"target": ["price", "area"]}, "target_classes": [],
          "categories": [{"name": "city", "classes": ["#na#", "Oslo"]}],
          "continuous": [{"name": "year", "mean": 1}]})");
  ASSERT_EQ(names.columns.size(), 1U);
  EXPECT_EQ(names.columns[0].name, "city");
  EXPECT_FALSE(names.columns[0].is_vocabulary);
  EXPECT_THAT(names.columns[0].values, ElementsAre("#na#", "Oslo"));
  EXPECT_THAT(names.numbers, ElementsAre("year"));
  EXPECT_THAT(names.targets, ElementsAre("price", "area"));
  EXPECT_THAT(fitted_names(R"({"options": {"target": "price"}})").targets, ElementsAre("price"));
  EXPECT_THAT(
      fitted_names(R"({"options": {"target": "kind"}, "target_classes": ["a", "b"]})").targets,
      IsEmpty());
}

// A header of an untrusted file.
TEST(FittedNames, OfWhatIsNoSuchTextAreNone) {
  for (const char* text : {"", "no json", "[]", "3", R"({"vocabulary": 3, "categories": {"a": 1}})",
                           R"({"vocabulary": ["a", 1], "categories": [3], "options": []})",
                           R"({"continuous": "x", "tokenizer": 3, "tokenizer_options": [1]})"}) {
    const auto names = fitted_names(text);
    EXPECT_THAT(names.columns, IsEmpty()) << text;
    EXPECT_THAT(names.numbers, IsEmpty()) << text;
    EXPECT_THAT(names.targets, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace ddptrain
