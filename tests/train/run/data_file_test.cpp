#include "train/run/data_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "train/small_training.h"

namespace ddptrain {
namespace {

TEST(DataFile, CountsTheSamplesOfEachClass) {
  const auto json = nlohmann::json::parse(data_json(test::DrawnSamples(8, {})));
  EXPECT_EQ(json["classes"], (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(json["splits"].size(), 2u);
  EXPECT_EQ(json["splits"][0]["name"], "train");
  EXPECT_EQ(json["splits"][0]["samples"], 8);
  EXPECT_EQ(json["splits"][1]["counts"], (std::vector<int>{3, 3, 2}));  // labels 0 1 2 0 1 2 0 1
}

TEST(DataFile, NamesTheSplitsThatAreScoredToo) {
  const test::DrawnSamples data(8, {}), held_out(3, {});
  const auto splits = nlohmann::json::parse(data_json(data, {{"test", &held_out}}))["splits"];
  ASSERT_EQ(splits.size(), 3u);
  EXPECT_EQ(splits[2]["name"], "test");
  EXPECT_EQ(splits[2]["counts"], (std::vector<int>{1, 1, 1}));
}

TEST(DataFile, LeavesOutASplitWithoutSamples) {
  EXPECT_TRUE(nlohmann::json::parse(data_json(test::DrawnSamples(0, {}))).at("splits").empty());
}

}  // namespace
}  // namespace ddptrain
