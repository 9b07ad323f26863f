// Flags and words of a verb, checked against what it declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/cli_output.h"

namespace ddptrain {
namespace {

using test::cli_output;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Flag kShade{"--shade", "light|dark", "of the page"};

const Verb kDraw{.name = "draw",
                 .usage = "RECIPE... [key=value...]",
                 .summary = "for tests",
                 .flags = {kShade, {"--output", "FILE", "where to"}, {"--wide", "", "a switch"}},
                 .min_files = 1};

std::string refusal(const Verb& verb, const std::vector<std::string>& words) {
  try {
    read_arguments(verb, words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "accepted";
}

TEST(ClosedWords, AreLowerCaseBetweenBars) {
  EXPECT_THAT(closed_words("auto|always|never"), ElementsAre("auto", "always", "never"));
  for (const auto* other : {"FILE", "", "RECIPE|FOLDER|-...", "[VERB | error [ID]]", "one"})
    EXPECT_THAT(closed_words(other), IsEmpty()) << other;
}

TEST(Arguments, ChooseAWordOfAClosedSet) {
  EXPECT_EQ(read_arguments(kDraw, {"a.yaml", "--shade", "dark"}).chosen(kShade), 1U);
  EXPECT_EQ(read_arguments(kDraw, {"a.yaml", "--shade=light"}).chosen(kShade), 0U);
  EXPECT_EQ(read_arguments(kDraw, {"a.yaml"}).chosen(kShade), 0U);
}

TEST(Arguments, OutsideOfAClosedSetAreRefused) {
  EXPECT_EQ(refusal(kDraw, {"a.yaml", "--shade", "drak"}),
            "--shade: 'drak' is not one of light, dark; did you mean 'dark'?");
  EXPECT_EQ(refusal(kDraw, {"a.yaml", "--shade", "blue"}),
            "--shade: 'blue' is not one of light, dark");
  EXPECT_EQ(refusal(kDraw, {"a.yaml", "--output", "blue"}), "accepted");
}

TEST(Arguments, HaveAValueWhereTheirFlagTakesOne) {
  EXPECT_EQ(refusal(kDraw, {"a.yaml", "--wide=1"}), "'--wide' takes no value");
  EXPECT_EQ(refusal(kDraw, {"a.yaml", "--output"}), "'--output' needs a value: --output FILE");
  EXPECT_EQ(refusal(kDraw, {"a.yaml", "--wide", "--output", "x"}), "accepted");
}

TEST(Arguments, CountFilesWithoutOverrides) {
  const std::string usage =
      "usage: ddptrain draw RECIPE... [key=value...]; see 'ddptrain draw --help'";
  EXPECT_EQ(refusal(kDraw, {}), usage);
  EXPECT_EQ(refusal(kDraw, {"seed=1", "~train.clip"}), usage);
  EXPECT_EQ(refusal(kDraw, {"seed=1", "a.yaml"}), "accepted");
}

TEST(Arguments, ExplainTheVerbWhateverElseIsThere) {
  EXPECT_EQ(refusal(kDraw, {"--help", "--shade", "blue"}), "accepted");
}

/// A flag of a verb that a set of words may follow, and the words.
TEST(Verbs, RefuseWordsOutsideOfTheirClosedSets) {
  int sets = 0;
  for (const auto& verb : engine_program().verbs)
    for (const auto& flag : all_flags(verb)) {
      const auto words = closed_words(flag.value);
      if (words.empty()) continue;
      ++sets;
      auto misspelled = words.back();
      std::swap(misspelled[0], misspelled[1]);
      EXPECT_EQ(refusal(verb, {"word", "word", std::string(flag.name), misspelled}),
                std::string(flag.name) + ": '" + misspelled + "' is not one of " +
                    join(words, ", ") + "; did you mean '" + words.back() + "'?")
          << verb.name;
    }
  EXPECT_GE(sets, 6);
}

TEST(Verbs, ThatTakeOverridesWantARecipe) {
  for (const std::string name : {"run", "test", "validate", "plan", "show", "lr-find"})
    EXPECT_THAT(cli_output({name, "seed=1"}).err,
                HasSubstr("error: usage: ddptrain " + name + " RECIPE"))
        << name;
}

}  // namespace
}  // namespace ddptrain
