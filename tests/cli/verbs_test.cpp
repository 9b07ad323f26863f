// What the program says to verbs that it does not have.
#include <gtest/gtest.h>

#include "cli/foreign_verbs.h"
#include "cli/said.h"

namespace ddptrain {
namespace {

using test::said;

TEST(Verbs, OfOtherToolsGetOurs) {
  for (const auto& [theirs, ours] :
       {std::pair("train", "run"), std::pair("fit", "run"), std::pair("evaluate", "eval"),
        std::pair("infer", "predict"), std::pair("serve", "predict"), std::pair("Train", "run")}) {
    const auto answer = said({theirs, "recipe.yaml"});
    EXPECT_EQ(answer.code, 2);
    EXPECT_EQ(answer.err, "error: ddptrain has no verb '" + std::string(theirs) +
                              "'; did you mean '" + ours + "'?\n");
  }
}

TEST(Verbs, OfWhichOnlyTheBeginningIsThere) {
  for (const auto& [start, ours] : {std::pair("tr", "run"), std::pair("ext", "export"),
                                    std::pair("res", "resume"), std::pair("pred", "predict")})
    EXPECT_EQ(said({start}).err, "error: ddptrain has no verb '" + std::string(start) +
                                     "'; did you mean '" + ours + "'?\n");
}

TEST(Kinds, OfComponentsAreSuggested) {
  EXPECT_EQ(said({"list", "modle"}).err,
            "error: 'modle' is not a kind of component; did you mean 'model'?\n");
}

TEST(Verbs, OfNobodyAreReferredToHelp) {
  EXPECT_EQ(said({"qqq"}).err, "error: ddptrain has no verb 'qqq'; see 'ddptrain help'\n");
}

TEST(Verbs, OfOtherToolsAreNotOursAndLeadToOurs) {
  std::vector<std::string> names;
  for (const auto& verb : this_program().verbs) names.emplace_back(verb.name);
  for (const auto& name : names) EXPECT_EQ(verb_for(name), "") << name;
  EXPECT_EQ(meant_verbs("fit", {"validate", "show"}), std::vector<std::string>{})
      << "a build without 'run' does not suggest it";
}

}  // namespace
}  // namespace ddptrain
