#include "recipe/sweep/words.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ddptrain {
namespace {

using Words = std::vector<std::string>;

TEST(SweepWords, ListValuesAndRanges) {
  EXPECT_EQ(with_sweep_keys({"optimizer.lr=1e-4,3e-4"}),
            Words{R"(sweep.keys={optimizer.lr: [1e-4, 3e-4]})"});
  EXPECT_EQ(with_sweep_keys({"optimizer.lr=1e-5..1e-1"}),
            Words{R"(sweep.keys={optimizer.lr: {min: 1e-5, max: 1e-1}})"});
  EXPECT_EQ(with_sweep_keys({"optimizer.lr=log:1e-5..1e-1"}),
            Words{R"(sweep.keys={optimizer.lr: {min: 1e-5, max: 1e-1, log: true}})"});
  EXPECT_EQ(with_sweep_keys({"a=-1..1"}), Words{R"(sweep.keys={a: {min: -1, max: 1}})"});
}

TEST(SweepWords, LeaveOtherOverridesAndTheirOrderAlone) {
  const Words others{"seed=3",         "~train.clip", "metrics+=[f1]",   "a=[1, 2]",
                     "a={b: 1, c: 2}", "a=\"1,2\"",   "a=../data/x.csv", "sweep.keys={a: [1, 2]}",
                     "a='x, y'"};
  EXPECT_EQ(with_sweep_keys(others), others);
}

TEST(SweepWords, TakeWhatIsInBracketsAsOneValue) {
  EXPECT_EQ(with_sweep_keys({"model.layers=[64],[64, 32]"}),
            Words{R"(sweep.keys={model.layers: [[64], [64, 32]]})"});
  EXPECT_EQ(with_sweep_keys({"optimizer={type: sgd, lr: 1},adam"}),
            Words{R"(sweep.keys={optimizer: [{type: sgd, lr: 1}, adam]})"});
  EXPECT_EQ(with_sweep_keys({"name=\"a,b\",c"}), Words{R"(sweep.keys={name: ["a,b", c]})"});
}

TEST(SweepWords, RefuseNothingBetweenCommas) {
  for (const std::string word : {"a=1,", "a=,1", "a=1,,2"})
    EXPECT_THROW(with_sweep_keys({word}), Error) << word;
}

}  // namespace
}  // namespace ddptrain
