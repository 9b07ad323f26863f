// Text tests: the messages for each recipe in tests/recipes, compared with the file next to
// it. DDPTRAIN_REWRITE=1 rewrites those files; read the difference before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files/files.h"
#include "base/text.h"
#include "recipe/load/load.h"
#include "support/where.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

const fs::path kRepository = test::in_source("");

std::vector<std::string> recipes_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".yaml")
      names.push_back(fs::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

class TextTest : public testing::TestWithParam<std::string> {
 protected:
  TextTest() : before_(fs::current_path()) { fs::current_path(kRepository / "tests/recipes"); }
  ~TextTest() override { fs::current_path(before_); }
  fs::path before_;
};

/// The words of a first line "# command line: train.precision=fp8 ~nothing".
std::vector<std::string> overrides_in(const std::string& file) {
  const auto text = read_text(file);
  const std::string head = "# command line: ";
  if (!text.starts_with(head)) return {};
  return split(text.substr(head.size(), text.find('\n') - head.size()), ' ');
}

TEST_P(TextTest, SaysWhatIsExpected) {
  const auto loaded = load_recipe({GetParam()}, overrides_in(GetParam()), all_catalogs());
  auto output = render(loaded.problems);
  if (output.empty()) output = "good\n";
  const auto expected = fs::path(GetParam()).replace_extension(".expected").string();
  if (std::getenv("DDPTRAIN_REWRITE")) write_atomically(expected, output);
  EXPECT_EQ(output, read_text(expected)) << "if this is better, DDPTRAIN_REWRITE=1 accepts it";
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  auto name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recipes, TextTest,
                         testing::ValuesIn(recipes_in(kRepository / "tests/recipes")), test_name);

class ShippedRecipe : public testing::TestWithParam<std::string> {};

TEST_P(ShippedRecipe, IsGood) {
  const auto loaded = load_recipe({(kRepository / GetParam()).string()}, {}, all_catalogs());
  EXPECT_EQ(render(loaded.problems), "");
}

std::vector<std::string> shipped() {
  std::vector<std::string> names;
  for (const std::string folder : {"recipes", "configs"})
    for (const auto& name : recipes_in(kRepository / folder)) names.push_back(folder + "/" + name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Recipes, ShippedRecipe, testing::ValuesIn(shipped()), test_name);

}  // namespace
}  // namespace ddptrain
