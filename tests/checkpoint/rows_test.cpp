// Rows by name. Expected values follow fastai.text.learner.match_embeds, whose own runs are in
// tests/golden/transfer.json.
#include "checkpoint/rows.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "tensors.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;

at::Tensor vector_of(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).to(at::kFloat);
}

TEST(MatchNames, CountsWhatStaysMovesComesAndGoes) {
  const auto match = match_names({"a", "b", "c", "d"}, {"a", "c", "x", "y", "x"});
  EXPECT_THAT(match.from, ElementsAre(0, 2, -1, -1, -1));
  EXPECT_EQ(match.copied, 1);
  EXPECT_EQ(match.moved, 1);
  EXPECT_EQ(match.fresh, 3);
  EXPECT_EQ(match.dropped, 2);
  EXPECT_THAT(match.fresh_names, ElementsAre("x", "y"));
  EXPECT_THAT(match.dropped_names, ElementsAre("b", "d"));
}

TEST(MatchNames, TakesTheLastOfANameThatIsListedTwice) {
  EXPECT_THAT(match_names({"xxfake", "a", "xxfake"}, {"xxfake", "a"}).from, ElementsAre(2, 1));
}

TEST(MatchedRows, AreTheSavedOnesAndTheirMean) {
  const auto saved = ramp({3, 2});  // 0 1, 2 3, 4 5
  const auto made =
      matched(saved, at::zeros({4, 2}), 0, match_names({"a", "b", "c"}, {"c", "new", "a", "b"}),
              FreshPlaces::mean);
  EXPECT_TRUE(at::equal(made, vector_of({4, 5, 2, 3, 0, 1, 2, 3}).view({4, 2})));
}

TEST(MatchedRows, KeepTheModelsOwnWhereAsked) {
  const auto made = matched(ramp({2}), vector_of({7, 8, 9}), 0,
                            match_names({"a", "b"}, {"b", "new", "a"}), FreshPlaces::own);
  EXPECT_TRUE(at::equal(made, vector_of({1, 8, 0})));
}

TEST(MatchedRows, MatchAlongAnyDimension) {
  const auto made = matched(ramp({2, 3}), at::zeros({2, 2}), 1,
                            match_names({"a", "b", "c"}, {"c", "a"}), FreshPlaces::mean);
  EXPECT_TRUE(at::equal(made, vector_of({2, 0, 5, 3}).view({2, 2})));
}

// Rows of a bag's n-grams stand behind those of its words.
TEST(MatchedRows, BeyondTheNamesStayWhereThereAreAsMany) {
  const auto match = match_names({"a", "b"}, {"b"});
  EXPECT_TRUE(at::equal(matched(ramp({4}), at::zeros({3}), 0, match, FreshPlaces::mean),
                        vector_of({1, 2, 3})));
  EXPECT_TRUE(at::equal(matched(ramp({4}), vector_of({7, 8, 9, 9}), 0, match, FreshPlaces::mean),
                        vector_of({1, 8, 9, 9})));
}

TEST(MatchedRows, OfWholeNumbersGetOnesThatNobodyHas) {
  const auto made = matched(at::tensor(std::vector<std::int64_t>{4, 9}).unsqueeze(1),
                            at::zeros({4, 1}, at::kLong), 0,
                            match_names({"a", "b"}, {"x", "b", "y", "a"}), FreshPlaces::mean);
  EXPECT_TRUE(at::equal(made, at::tensor(std::vector<std::int64_t>{10, 9, 11, 4}).unsqueeze(1)));
}

}  // namespace
}  // namespace ddptrain
