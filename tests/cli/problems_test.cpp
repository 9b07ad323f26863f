// What verbs say of problems: forms for people and machines, and what explains them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/files.h"
#include "base/text.h"
#include "cli/documents/documents.h"
#include "jobs/engine.h"
#include "recipe/load/load.h"
#include "recipe/rules/rule_docs.h"
#include "support/temporary_folder.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct CliOutput {
  int code;
  std::string out, err;
};

/// Words in a folder with a good recipe, base.yaml, which is the current one.
class Says : public testing::Test {
 protected:
  Says() : before_(fs::current_path()) {
    fs::current_path(folder_.path());
    folder_.write("base.yaml", read_text(test::in_source("tests/support/good_recipe.yaml")));
  }
  ~Says() override { fs::current_path(before_); }

  static CliOutput say(std::vector<std::string> words) {
    words.insert(words.begin(), "ddptrain");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run_command_line(engine_program(), words);
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
  }

  TemporaryFolder folder_;
  fs::path before_;
};

class Explained : public Says, public testing::WithParamInterface<RuleDoc> {
 protected:
  std::set<std::string> broken(std::string_view fragment) {
    folder_.write("recipe.yaml", fragment);
    std::set<std::string> ids;
    const auto& catalogs = *engine_program().catalogs;
    for (const auto& problem : load_recipe({"base.yaml", "recipe.yaml"}, {}, catalogs).problems)
      ids.insert(problem.rule);
    return ids;
  }
};

TEST_P(Explained, ByAnExampleThatBreaksOneRuleAndOneThatBreaksNone) {
  if (GetParam().wrong.empty()) GTEST_SKIP() << "nothing that YAML can show";
  EXPECT_EQ(broken(GetParam().wrong), std::set{std::string(GetParam().id)}) << GetParam().wrong;
  EXPECT_EQ(broken(GetParam().right), std::set<std::string>{}) << GetParam().right;
}

std::string rule_name(const testing::TestParamInfo<RuleDoc>& info) {
  std::string name(info.param.id);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, Explained, testing::ValuesIn(reading_rules()), rule_name);

TEST_F(Says, AllOfARuleInHelpError) {
  const auto output = say({"help", "error", "tab"});
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.err, "");
  EXPECT_EQ(output.out,
            "tab: A tab before the text of a line.\n\n"
            "  YAML does not say how wide a tab is, so that it cannot tell how deep a line\n"
            "  stands. Most editors can write spaces instead.\n\n"
            "  wrong:\n\n    train:\n    \tduration: 5 epochs\n\n"
            "  right:\n\n    train:\n      duration: 5 epochs\n");
}

TEST_F(Says, EveryRuleInAList) {
  const auto output = say({"help", "error"});
  EXPECT_EQ(output.code, 0);
  for (const auto* rule : all_rule_docs())
    EXPECT_THAT(output.out, testing::HasSubstr("  " + std::string(rule->id) + " ")) << rule->id;
}

TEST_F(Says, WhichRuleWasMeant) {
  const auto output = say({"help", "error", "unknwon-key"});
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.err,
            "error: no kind of problem is called 'unknwon-key'; did you mean 'unknown-key'?\n");
  EXPECT_THAT(say({"help", "error", "qqqqqqqqqqqq"}).err,
              testing::HasSubstr("error: no kind of problem is called 'qqqqqqqqqqqq'; 'ddptrain "
                                 "help error' lists them\n"));
  EXPECT_EQ(say({"help", "run", "twice"}).code, 2);
  EXPECT_EQ(say({"help", "--markdown"}).code, 2);
}

TEST(ProblemsPage, OfTheRepositoryIsTheOneThatTheProgramWrites) {
  EXPECT_TRUE(read_text(test::in_source("docs/problems.md")) == error_page())
      << "out of date; repair: make generate";
}

TEST_F(Says, ProblemsInColorsWhereTheyAreAskedFor) {
  folder_.write("bad.yaml", "extends: base.yaml\nseed: x\n");
  EXPECT_THAT(
      say({"validate", "bad.yaml", "--color", "always"}).err,
      testing::HasSubstr(
          "bad.yaml:2:7: \033[1;31merror\033[0m[bad-value]: seed: 'x' is not an integer\n"));
  EXPECT_THAT(say({"validate", "bad.yaml", "--color", "never"}).err,
              testing::Not(testing::HasSubstr("\033")));
}

TEST_F(Says, WhereToReadMoreBehindTheCount) {
  folder_.write("recipe.yaml", "extends: base.yaml\nseeed: 1\n");
  const auto output = say({"validate", "recipe.yaml"});
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_TRUE(
      output.err.ends_with("\n1 error; nothing was started\n"
                           "'ddptrain help error unknown-key' says more\n"))
      << output.err;
  EXPECT_TRUE(say({"validate", "-q", "recipe.yaml"}).err.ends_with("nothing was started\n"));
}

TEST_F(Says, OnceWhatSeveralRecipesShare) {
  folder_.write("middle.yaml", "extends: base.yaml\nseeed: 1\n");
  folder_.write("one.yaml", "extends: middle.yaml\n");
  folder_.write("two.yaml", "extends: middle.yaml\n");
  const auto output = say({"validate", "one.yaml", "two.yaml"});
  EXPECT_THAT(output.err,
              testing::HasSubstr("\none.yaml:1:10: note: extended from here\n1 error;"));
}

TEST_F(Says, WarningsAsErrorsWhenStrict) {
  folder_.write("recipe.yaml", "extends: base.yaml\neval: {every: 10 epochs}\n");
  const auto advice = say({"validate", "recipe.yaml"});
  EXPECT_EQ(advice.code, 0);
  EXPECT_THAT(
      advice.err,
      testing::HasSubstr("recipe.yaml:2:15: warning[period]: eval.every: '10 epochs' is longer "
                         "than the run of '1 epoch': evaluation comes only at its end\n"));
  EXPECT_TRUE(advice.err.ends_with("\n1 warning\n")) << advice.err;
  const auto strict = say({"validate", "--strict", "recipe.yaml"});
  EXPECT_EQ(strict.code, 2);
  EXPECT_THAT(strict.err, testing::HasSubstr(
                              "recipe.yaml:2:15: error[period]: eval.every: '10 epochs' is longer "
                              "than the run of '1 epoch': evaluation comes only at its end\n"));
  EXPECT_THAT(strict.err, testing::HasSubstr("\n1 error; nothing was started\n"));
  EXPECT_EQ(say({"run", "--strict", "recipe.yaml"}).code, 2);
  EXPECT_EQ(say({"run", "--strict", "--repeat", "2", "recipe.yaml"}).code, 2);
}

TEST_F(Says, NothingButJsonOnStdout) {
  folder_.write("recipe.yaml", "extends: base.yaml\nseeed: 1\n");
  const auto output =
      say({"validate", "--format", "jsonl", "base.yaml", "recipe.yaml", "train.precision=fp8"});
  EXPECT_EQ(output.code, 2);
  const auto lines = split(output.out, '\n');
  ASSERT_EQ(lines.size(), 3U) << output.out;
  EXPECT_EQ(json::parse(lines[0]).at("file"), "command line");
  EXPECT_EQ(json::parse(lines[1]).at("rule"), "unknown-key");
  EXPECT_EQ(output.err, "2 errors; nothing was started\n");
  const auto good = say({"validate", "--format", "jsonl", "base.yaml"});
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.out, "");
}

TEST_F(Says, WhatToWriteInstead) {
  folder_.write("recipe.yaml",
                "extends: base.yaml\n"
                "seeed: 1\n"
                "optimizer: {type: adm}\n"
                "train: {precision: tf23}\n");
  std::vector<std::string> words;
  for (const auto& line : split(say({"validate", "--format", "jsonl", "recipe.yaml"}).out, '\n'))
    if (!line.empty()) words.push_back(json::parse(line).value("suggestion", "nothing"));
  EXPECT_EQ(words, (std::vector<std::string>{"seed", "adam", "tf32"}));
}

TEST_F(Says, SarifWithTheRulesDocument) {
  folder_.write("recipe.yaml", "extends: base.yaml\nseeed: 1\n");
  const auto log = json::parse(say({"validate", "--format=sarif", "recipe.yaml"}).out);
  const auto& run = log.at("runs")[0];
  EXPECT_EQ(run.at("results")[0].at("ruleId"), "unknown-key");
  EXPECT_EQ(run.at("tool").at("driver").at("rules")[0].at("shortDescription").at("text"),
            find_rule_doc("unknown-key")->summary);
}

TEST_F(Says, AnnotationsForGitHub) {
  folder_.write("recipe.yaml", "extends: base.yaml\nseeed: 1\n");
  const auto output = say({"validate", "--format", "github", "recipe.yaml"});
  EXPECT_TRUE(output.out.starts_with(
      "::error file=recipe.yaml,line=2,col=1,endColumn=6,title=unknown-key::'seeed'"))
      << output.out;
}

TEST_F(Says, WhichFormatWasMeant) {
  const auto output = say({"validate", "--format", "jsn", "base.yaml"});
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.err,
            "error: --format: 'jsn' is not one of text, json, jsonl, github, sarif; did you mean "
            "'json'?\n");
}

}  // namespace
}  // namespace ddptrain
