// What the program says to verbs that it does not have.
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/cli_output.h"
#include "cli/foreign_verbs.h"

namespace ddptrain {
namespace {

using test::cli_output;

TEST(Verbs, OfOtherToolsGetOurs) {
  for (const auto& [theirs, ours] :
       {std::pair("train", "run"), std::pair("fit", "run"), std::pair("evaluate", "eval"),
        std::pair("infer", "predict"), std::pair("serve", "predict"), std::pair("Train", "run")}) {
    const auto answer = cli_output({theirs, "recipe.yaml"});
    EXPECT_EQ(answer.code, 2);
    EXPECT_EQ(answer.err, "error: ddptrain has no verb '" + std::string(theirs) +
                              "'; did you mean '" + ours + "'?\n");
  }
}

TEST(Verbs, OfWhichOnlyTheBeginningIsThere) {
  for (const auto& [start, ours] : {std::pair("tr", "run"), std::pair("ext", "export"),
                                    std::pair("res", "resume"), std::pair("pred", "predict")})
    EXPECT_EQ(cli_output({start}).err, "error: ddptrain has no verb '" + std::string(start) +
                                           "'; did you mean '" + ours + "'?\n");
}

TEST(Kinds, OfComponentsAreSuggested) {
  EXPECT_EQ(cli_output({"list", "modle"}).err,
            "error: 'modle' is not a kind of component; did you mean 'model'?\n");
}

// Nothing of what they mean is there, and 'validate' is no nearer than any other verb.
TEST(Verbs, OfNobodyAreAnsweredWithAllThatThereAre) {
  std::vector<std::string> names;
  for (const auto& verb : engine_program().verbs) names.emplace_back(verb.name);
  const auto all = join(names, ", ");
  for (const std::string word : {"qqq", "imagine", "chat"}) {
    const auto wanted = "error: ddptrain has no verb '" + word + "'; its verbs are " + all + "\n";
    EXPECT_EQ(cli_output({word}).err, wanted);
    EXPECT_EQ(cli_output({"help", word}).err, wanted);
  }
}

TEST(Flags, OfARecipesOptionsSayHowTheseAreWritten) {
  const auto said_of = [](const std::vector<std::string>& words) {
    auto line = words;
    line.insert(line.begin(), {"run", "a.yaml"});
    const auto err = cli_output(line).err;
    const std::string start = "options of a recipe are written without dashes: ";
    const auto at = err.find(start);
    return at == std::string::npos ? err : err.substr(at + start.size());
  };
  EXPECT_EQ(said_of({"--epochs", "5"}), "train.duration='5 epochs'\n");
  EXPECT_EQ(said_of({"--epochs=5"}), "train.duration='5 epochs'\n");
  EXPECT_EQ(said_of({"--max-steps", "100"}), "train.duration='100 steps'\n");
  EXPECT_EQ(said_of({"--optimizer.lr=0.1"}), "optimizer.lr=0.1\n");
  EXPECT_EQ(said_of({"--lr", "0.1"}), "optimizer.lr=0.1\n");
  EXPECT_EQ(said_of({"--learning-rate", "0.1"}), "optimizer.lr=0.1\n");
  EXPECT_EQ(said_of({"--batch-size", "64"}), "batch.global=64\n");
  EXPECT_EQ(said_of({"--batch", "64"}), "batch.global=64\n");
  EXPECT_EQ(said_of({"--momentum", "0.9"}), "optimizer.momentum=0.9\n");
  EXPECT_EQ(said_of({"--seed", "3"}), "seed=3\n");
  EXPECT_EQ(said_of({"--gpus", "2"}), "parallel.devices=2\n");
  EXPECT_EQ(said_of({"--fp16"}), "train.precision=fp16\n");
  EXPECT_EQ(said_of({"--amp", "b.yaml"}), "train.precision=bf16\n");
  EXPECT_EQ(said_of({"--strictt"}),
            "error: 'run' has no flag '--strictt'; did you mean '--strict'?\n");
  EXPECT_EQ(said_of({"--qqq"}), "error: 'run' has no flag '--qqq'; see 'ddptrain run --help'\n");
  EXPECT_EQ(cli_output({"list", "--lr", "0.1"}).err,
            "error: 'list' has no flag '--lr'; see 'ddptrain list --help'\n");
}

TEST(Verbs, OfOtherToolsAreNotOursAndLeadToOurs) {
  std::vector<std::string> names;
  for (const auto& verb : engine_program().verbs) names.emplace_back(verb.name);
  for (const auto& name : names) EXPECT_EQ(verb_for(name), "") << name;
  EXPECT_EQ(meant_verbs("fit", {"validate", "show"}), std::vector<std::string>{})
      << "a build without 'run' does not suggest it";
}

}  // namespace
}  // namespace ddptrain
