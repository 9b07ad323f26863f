// `init` and `list recipes`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "cli/built_in.h"
#include "cli/cli_output.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using test::cli_output;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Init : public testing::Test {
 protected:
  TemporaryFolder folder_;
  test::Inside inside_{folder_.path()};
};

TEST_F(Init, EveryStarterStandsAloneAndMeansTheSame) {
  ASSERT_GT(built_in_names().size(), 10U);
  for (const auto& name : built_in_names()) {
    EXPECT_EQ(cli_output({"init", name}).code, 0) << name;
    EXPECT_EQ(cli_output({"validate", name + ".yaml"}).out, name + ".yaml: good\n");
    const auto text = read_text(name + ".yaml");
    EXPECT_THAT(text, Not(HasSubstr("extends")));
    EXPECT_THAT(text, Not(HasSubstr("../")));
    const auto shipped = test::in_source("recipes/" + name + ".yaml");
    const auto different = cli_output({"diff", shipped, name + ".yaml"}).out;
    EXPECT_THAT(different,
                Not(testing::ContainsRegex("(^|\n)(train|batch|loss|optimizer|schedule)")))
        << different;
  }
}

TEST_F(Init, KeepsComments) {
  const auto pets = cli_output({"init", "pets", "-"}).out;
  EXPECT_THAT(pets, HasSubstr("\n# What: the 37 breeds"));
  EXPECT_THAT(pets, HasSubstr("# cats or dogs:"));
  EXPECT_TRUE(pets.starts_with("# yaml-language-server: $schema=/"));
  EXPECT_THAT(cli_output({"init", "imagenette", "-"}).out,
              HasSubstr("\n# What: xResNet-50 on Imagenette"));
}

TEST_F(Init, NeverOverwritesUnlessForced) {
  folder_.write("adult.yaml", "mine");
  const auto refused = cli_output({"init", "adult"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("'adult.yaml' is there already"));
  EXPECT_EQ(read_text("adult.yaml"), "mine");
  EXPECT_EQ(cli_output({"init", "adult", "--force"}).code, 0);
  EXPECT_NE(read_text("adult.yaml"), "mine");
}

TEST_F(Init, SaysWhatToDoNext) {
  EXPECT_THAT(
      cli_output({"init", "imagenette", "mine.yaml"}).out,
      testing::EndsWith("\n\n  ddptrain data get mine.yaml\n      fetches the data\n"
                        "  ddptrain validate mine.yaml\n      checks it; nothing is started\n"
                        "  ddptrain run mine.yaml\n      trains\n"));
  EXPECT_THAT(cli_output({"init", "shapes"}).out,
              HasSubstr("\n  ddptrain data make shapes data/shapes\n      makes the data\n"));
  EXPECT_THAT(cli_output({"init", "adult"}).out,
              ContainsRegex("\n  data.file: [^ ]*/adult.csv\n"  // data/, or in $DDPTRAIN_DATA
                            "      is where the data are looked for\n"));
}

TEST_F(Init, SuggestsAName) {
  EXPECT_EQ(cli_output({"init", "imagenete"}).err,
            "error: no built-in recipe is called 'imagenete'; did you mean 'imagenette'?\n");
  EXPECT_EQ(cli_output({"init", "shapes", folder_.path()}).err,
            "error: '" + folder_.path() + "' is a folder; name a file, such as '" +
                (folder_ / "shapes.yaml") + "'\n");
}

TEST_F(Init, HasATargetForDataAlone) {
  EXPECT_EQ(cli_output({"init", "adult", "--target", "age"}).err,
            "error: --target is for a recipe from data, and 'adult' is a built-in one\n");
}

TEST_F(Init, AloneListsTheNames) {
  const auto names = cli_output({"init"}).out;
  const auto list = cli_output({"list", "recipes"}).out;
  for (const auto& name : built_in_names()) {
    EXPECT_THAT(names, HasSubstr("  " + name + " "));
    EXPECT_THAT(list, HasSubstr("  " + name + " "));
  }
  EXPECT_THAT(list, HasSubstr("Adult census income (over 50K or not)"));
}

}  // namespace
}  // namespace ddptrain
