#include "config/formats/problem_formats.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/version.h"

namespace ddptrain {
namespace {

using nlohmann::json;

Problem misspelled() {
  Problem problem{Severity::error,
                  "unknown-key",
                  {"base/a b.yaml", 3, 5, 4},
                  "optimizer",
                  "'momn' is not an option of 'sgd'; did you mean 'momentum'?"};
  problem.suggestion = "momentum";
  problem.extended_from = {{"top.yaml", 1, 10, 13}};
  return problem;
}

Problem on_command_line() {
  return {Severity::warning, "no-effect", {"command line", 2, 0, 1}, "eval.every", "too long"};
}

Problem nowhere() { return {Severity::note, "file", {}, "", "100 %, a: b\r\nc"}; }

const RuleDoc kUnknownKey{"unknown-key", "A key that nothing reads.", "It would be lost.", "a: 1\n",
                          "b: 1\n"};

TEST(Json, IsOneDocument) {
  const auto document = json::parse(render_json({misspelled(), on_command_line()}));
  ASSERT_EQ(document.size(), 2U);
  EXPECT_EQ(document[0].at("path"), "optimizer");
  EXPECT_EQ(document[1].at("severity"), "warning");
  EXPECT_EQ(json::parse(render_json({})), json::array());
}

TEST(JsonLines, AreAnObjectALineInTheOrderOfPlaces) {
  auto second = misspelled();
  second.place.line = 9;
  second.suggestion = "";
  second.extended_from.clear();
  const auto lines = split(render_jsonl({second, on_command_line(), misspelled()}), '\n');
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0],
            R"({"file":"base/a b.yaml","line":3,"column":5,"end_column":9,"severity":"error",)"
            R"("rule":"unknown-key","path":"optimizer",)"
            R"("message":"'momn' is not an option of 'sgd'; did you mean 'momentum'?",)"
            R"("suggestion":"momentum",)"
            R"("extended_from":[{"file":"top.yaml","line":1,"column":10}]})");
  EXPECT_EQ(json::parse(lines[1]).at("line"), 9);
  EXPECT_FALSE(json::parse(lines[1]).contains("suggestion"));
  EXPECT_EQ(lines[2],
            R"({"file":"command line","line":2,"column":null,"end_column":null,)"
            R"("severity":"warning","rule":"no-effect","path":"eval.every","message":"too long"})");
  EXPECT_EQ(lines[3], "");
}

TEST(JsonLines, OfNothingAreNone) { EXPECT_EQ(render_jsonl({}), ""); }

TEST(Json, IsUtf8WhateverAFileIsCalled) {
  auto problem = misspelled();
  problem.place.file = "\xFF.yaml";
  EXPECT_EQ(json::parse(render_json({problem})).at(0).at("file"), "\uFFFD.yaml");
}

// The escapes: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
TEST(GitHub, WritesWorkflowCommands) {
  EXPECT_EQ(render_github({misspelled(), on_command_line(), nowhere()}),
            "::error file=base/a b.yaml,line=3,col=5,endColumn=9,title=unknown-key::"
            "optimizer: 'momn' is not an option of 'sgd'; did you mean 'momentum'?"
            "%0Aextended from top.yaml:1:10\n"
            "::warning title=no-effect::command line:2: eval.every: too long\n"
            "::notice title=file::100 %25, a: b\\r\\nc\n");
}

TEST(GitHub, EscapesWhatEndsAProperty) {
  auto problem = misspelled();
  problem.place.file = "a,b:c%.yaml";
  problem.extended_from.clear();
  EXPECT_TRUE(render_github({problem}).starts_with("::error file=a%2Cb%3Ac%25.yaml,line=3,"));
}

TEST(Sarif, IsOneRunWithTheRulesThatWereBroken) {
  const RuleDoc other{"tab", "A tab.", "", "", ""};
  const auto log = json::parse(render_sarif({misspelled(), misspelled()}, {&other, &kUnknownKey}));
  EXPECT_EQ(log.at("version"), "2.1.0");
  ASSERT_EQ(log.at("runs").size(), 1U);
  const auto& run = log.at("runs")[0];
  EXPECT_EQ(run.at("columnKind"), "unicodeCodePoints");
  const auto& driver = run.at("tool").at("driver");
  EXPECT_EQ(driver.at("name"), "ddptrain");
  EXPECT_EQ(driver.at("version"), version());
  ASSERT_EQ(driver.at("rules").size(), 1U);
  const auto& rule = driver.at("rules")[0];
  EXPECT_EQ(rule.at("id"), "unknown-key");
  EXPECT_EQ(rule.at("shortDescription").at("text"), "A key that nothing reads.");
  EXPECT_EQ(rule.at("fullDescription").at("text"), "It would be lost.");
  EXPECT_EQ(rule.at("help").at("text"), "It would be lost.\n\nWrong:\n\na: 1\n\nRight:\n\nb: 1");
  EXPECT_EQ(rule.at("help").at("markdown"),
            "It would be lost.\n\nWrong:\n\n```yaml\na: 1\n```\n\nRight:\n\n```yaml\nb: 1\n```");
  EXPECT_EQ(run.at("results").size(), 1U);
}

TEST(Sarif, SaysPlaceChainAndWhatToWrite) {
  const auto log = json::parse(render_sarif({misspelled()}, {&kUnknownKey}));
  const auto& result = log.at("runs")[0].at("results")[0];
  EXPECT_EQ(result.at("ruleId"), "unknown-key");
  EXPECT_EQ(result.at("ruleIndex"), 0);
  EXPECT_EQ(result.at("level"), "error");
  EXPECT_EQ(result.at("message").at("text"),
            "optimizer: 'momn' is not an option of 'sgd'; did you mean 'momentum'?");
  const auto& location = result.at("locations")[0];
  const auto region = json::parse(R"({"startLine": 3, "startColumn": 5, "endColumn": 9})");
  EXPECT_EQ(location.at("physicalLocation").at("artifactLocation").at("uri"), "base/a%20b.yaml");
  EXPECT_EQ(location.at("physicalLocation").at("region"), region);
  EXPECT_EQ(location.at("logicalLocations")[0].at("fullyQualifiedName"), "optimizer");
  const auto& from = result.at("relatedLocations")[0];
  EXPECT_EQ(from.at("physicalLocation").at("artifactLocation").at("uri"), "top.yaml");
  EXPECT_EQ(from.at("message").at("text"), "extended from here");
  const auto& change = result.at("fixes")[0].at("artifactChanges")[0];
  EXPECT_EQ(change.at("artifactLocation").at("uri"), "base/a%20b.yaml");
  EXPECT_EQ(change.at("replacements")[0].at("deletedRegion"), region);
  EXPECT_EQ(change.at("replacements")[0].at("insertedContent").at("text"), "momentum");
}

TEST(Sarif, GivesTheCommandLineNoRegionAndNothingNoPlace) {
  const auto log = json::parse(render_sarif({on_command_line(), nowhere()}, {}));
  const auto& results = log.at("runs")[0].at("results");
  EXPECT_EQ(results[0].at("level"), "warning");
  EXPECT_EQ(results[0].at("message").at("text"), "command line:2: eval.every: too long");
  EXPECT_EQ(results[0].at("locations")[0].at("physicalLocation"),
            json::parse(R"({"artifactLocation": {"uri": "command%20line"}})"));
  EXPECT_EQ(results[1].at("level"), "note");
  EXPECT_TRUE(results[1].at("locations").empty());
}

TEST(Sarif, NamesFilesFromTheCurrentFolder) {
  const auto uri = [](const std::string& file) {
    auto problem = misspelled();
    problem.place.file = file;
    const auto log = json::parse(render_sarif({problem}, {}));
    const auto& location = log.at("runs")[0].at("results")[0].at("locations")[0];
    return location.at("physicalLocation").at("artifactLocation").at("uri").get<std::string>();
  };
  EXPECT_EQ(uri(std::filesystem::current_path() / "größe.yaml"), "gr%C3%B6%C3%9Fe.yaml");
  EXPECT_EQ(uri("/somewhere else/a.yaml"), "file:///somewhere%20else/a.yaml");
  EXPECT_TRUE(uri("../a.yaml").starts_with("file:///"));
}

TEST(Sarif, OfNothingIsARunWithoutResults) {
  const auto log = json::parse(render_sarif({}, {}));
  EXPECT_TRUE(log.at("runs")[0].at("results").empty());
}

}  // namespace
}  // namespace ddptrain
