// Every rule shows what is wrong and what is right: fragments laid over one good recipe.
#include "recipe/rules.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>

#include "base/files.h"
#include "config/encode.h"
#include "recipe/load.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGood = R"(
model: resnet18
data:
  type: image_folder
  root: pictures
  transforms:
    train:
      - {type: random_resized_crop, size: 64}
      - {type: horizontal_flip}
      - {type: normalize, preset: imagenet}
    valid:
      - {type: resize, size: 72}
      - {type: center_crop, size: 64}
      - {type: normalize, preset: imagenet}
batch: {global: 64}
optimizer: {type: sgd, momentum: 0.9}
)";

class RuleTest : public testing::TestWithParam<Rule> {
 protected:
  RuleTest()
      : folder_(fs::temp_directory_path() / ("ddptrain_rules_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    write_atomically(base(), kGood);
  }
  ~RuleTest() override { fs::remove_all(folder_); }

  std::string base() const { return (folder_ / "base.yaml").string(); }
  std::string fragment() const { return (folder_ / "fragment.yaml").string(); }
  Loaded laid_over(std::string_view text) const {
    write_atomically(fragment(), std::string(text));
    return load_recipe({base(), fragment()}, {}, all_catalogs());
  }

 private:
  fs::path folder_;
};

TEST_P(RuleTest, IsBrokenByWhatIsWrong) {
  const auto problems = laid_over(GetParam().wrong).problems;
  EXPECT_FALSE(problems.empty()) << GetParam().wrong;
  for (const auto& problem : problems) {
    EXPECT_EQ(problem.rule, GetParam().id) << render(problem);
    EXPECT_EQ(problem.place.file, fragment()) << render(problem);
  }
}

TEST_P(RuleTest, IsKeptByWhatIsRight) {
  EXPECT_EQ(render(laid_over(GetParam().right).problems), "") << GetParam().right;
}

// A resolved recipe writes every default, and is as good as what it was made of.
TEST_P(RuleTest, IsKeptByTheResolvedRecipe) {
  auto loaded = laid_over(GetParam().right);
  ASSERT_FALSE(has_errors(loaded.problems));
  write_atomically(fragment(), to_yaml(encode(loaded.recipe, &all_catalogs())));
  EXPECT_EQ(render(load_recipe({fragment()}, {}, all_catalogs()).problems), "");
}

TEST_P(RuleTest, IsExplained) {
  const auto& rule = GetParam();
  EXPECT_TRUE(std::regex_match(std::string(rule.id), std::regex("[a-z0-9]+(-[a-z0-9]+)*")));
  for (const auto text : {rule.summary, rule.why}) EXPECT_TRUE(text.ends_with('.')) << text;
  EXPECT_NE(rule.wrong, rule.right);
}

std::string name_of(const testing::TestParamInfo<Rule>& info) {
  return std::regex_replace(std::string(info.param.id), std::regex("-"), "_");
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleTest, testing::ValuesIn(all_rules()), name_of);

TEST(Rules, HaveIdsOfTheirOwn) {
  std::set<std::string_view> ids;
  for (const auto& rule : all_rules()) EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
}

}  // namespace
}  // namespace ddptrain
