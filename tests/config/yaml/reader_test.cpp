#include "config/yaml/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/problem.h"

namespace ddptrain {
namespace {

Node tree(const std::string& text) {
  auto result = read_yaml(text, "a.yaml");
  EXPECT_TRUE(result.problems.empty()) << text << "\n" << render(result.problems);
  return result.tree;
}

/// "line:column rule: message" of the only problem.
std::string problem(const std::string& text, const ReadLimits& limits = {}) {
  const auto result = read_yaml(text, "a.yaml", limits);
  EXPECT_EQ(result.problems.size(), 1u) << text;
  if (result.problems.empty()) return "none";
  const auto& p = result.problems[0];
  return std::to_string(p.place.line) + ":" + std::to_string(p.place.column) + " " + p.rule + ": " +
         p.message;
}

TEST(Reader, KeysAndValuesKnowTheirPlaces) {
  const auto map = tree("a: 1\nnä: {bb: 'x y', c: [1, 2]}\n");
  ASSERT_EQ(map.members.size(), 2u);
  EXPECT_EQ(map.members[0].place.line, 1);
  const auto& flow = map.members[1].value;
  EXPECT_EQ(flow.members[0].place.column, 6);
  EXPECT_EQ(flow.members[0].place.width, 2);
  EXPECT_EQ(flow.members[0].value.place.column, 10);
  EXPECT_EQ(flow.members[0].value.place.width, 5);
  EXPECT_TRUE(flow.members[0].value.quoted);
  EXPECT_EQ(flow.find("c")->items[1].place.column, 24);
}

TEST(Reader, AnEmptyValueIsANullAtItsKey) {
  const auto map = tree("a:\nb: ~\nc: null\nd: ''\n");
  EXPECT_TRUE(map.find("a")->is_null());
  EXPECT_EQ(map.find("a")->place.line, 1);
  EXPECT_TRUE(map.find("b")->is_null());
  EXPECT_TRUE(map.find("c")->is_null());
  EXPECT_TRUE(map.find("d")->is_scalar());
}

TEST(Reader, AnEmptyFileIsAnEmptyMap) {
  EXPECT_TRUE(tree("").is_map());
  EXPECT_TRUE(tree("# nothing\n").is_map());
  EXPECT_EQ(tree("\xEF\xBB\xBF"
                 "a: 1\r\n")
                .find("a")
                ->text,
            "1");
}

TEST(Reader, AliasesAreCopiedAndStandAtTheirOwnPlace) {
  const auto map = tree("x-a: &a {p: 1}\nb: *a\n");
  EXPECT_EQ(map.find("b")->find("p")->text, "1");
  EXPECT_EQ(map.find("b")->place.line, 2);
}

TEST(Reader, BlockScalarsMayHoldAnything) {
  const auto map =
      tree("a: |\n  it's \"free\" [text\n  % and: more\nb:\n  - >-\n    don't\n  - 2\n");
  EXPECT_EQ(map.find("a")->text, "it's \"free\" [text\n% and: more\n");
  EXPECT_EQ(map.find("b")->items[0].text, "don't");
}

TEST(Reader, QuotesInsidePlainTextAreText) {
  EXPECT_EQ(tree("a: it's\n").find("a")->text, "it's");
  EXPECT_EQ(tree("a: 5 # isn't\n").find("a")->text, "5");
  EXPECT_EQ(tree("a: ['it''s', \"a\\\"b\"]\n").find("a")->items[1].text, "a\"b");
  EXPECT_EQ(tree("a: ${env:X:-../data}/b\n").find("a")->text, "${env:X:-../data}/b");
  EXPECT_EQ(tree("{\"a\":1, 'b':[2]}\n").find("b")->items[0].text, "2");
}

TEST(Reader, RefusesASecondDocument) {
  EXPECT_EQ(problem("a: 1\n---\nb: 2\n"),
            "2:1 second-document: a second document starts here; a recipe is one document");
  EXPECT_EQ(tree("---\na: 1\n").find("a")->text, "1");
}

TEST(Reader, RefusesWhatYamlCppLetsPass) {
  EXPECT_EQ(problem("a: 'x\nb: 2\n"),
            "1:4 quote: the quote is not closed on its line; long text is written with '|' or '>'");
  EXPECT_EQ(problem("a: {x: 1, y}\n"),
            "1:11 syntax: a key without a value in '{ }'; write 'key: value', or '[ ]' for a list");
  EXPECT_EQ(problem("%YAML 1.2\n---\na: 1\n"),
            "1:1 directive: directives are not read; leave this line out");
  EXPECT_EQ(problem("a: !!int 5\n"),
            "1:4 tag: tags are not read; leave it out, or put the text in quotes");
  EXPECT_EQ(problem("a: [!x 5]\n"),
            "1:5 tag: tags are not read; leave it out, or put the text in quotes");
  EXPECT_EQ(problem("a:\n\tb: 1\n"),
            "2:1 tab: a tab stands before the text of this line; write spaces");
  EXPECT_EQ(problem("<<: {a: 1}\n"),
            "1:1 merge-key: merge keys are not read; 'extends' and '${other.key}' share parts");
}

TEST(Reader, ADuplicateKeyNamesBothPlaces) {
  EXPECT_EQ(problem("a: 1\nb: 2\na: 3\n"),
            "3:1 duplicate-key: 'a' is given twice; first at a.yaml:1:1");
  EXPECT_EQ(problem("m: {k: 1, k: 2}\n"),
            "1:11 duplicate-key: 'k' is given twice; first at a.yaml:1:5");
}

TEST(Reader, KeysAreText) {
  EXPECT_EQ(problem("? [a]\n: 1\n"), "1:1 key: '? ' keys are not read; write 'key: value'");
  EXPECT_EQ(problem("{[a]: 1}\n"), "1:2 key: only text can be a key");
  EXPECT_EQ(problem("{a: 1}: 2\n").substr(0, 4), "1:1 ");
  EXPECT_EQ(problem("~: 1\n"), "1:1 key: a key is missing before the ':'");
  EXPECT_EQ(problem("'': 1\n"), "1:1 key: a key is empty");
  EXPECT_EQ(problem("a: &x b\n*x : 1\n"), "2:1 key: an alias cannot be a key");
}

TEST(Reader, RefusesBytesThatAreNotText) {
  EXPECT_EQ(problem("a: b\n\xFF"), "2:1 encoding: this is not UTF-8");
  EXPECT_EQ(problem(std::string("a: \0b\n", 6)),
            "1:4 control-character: a control character (code 0) cannot stand here");
}

TEST(Reader, BracketsMustClose) {
  EXPECT_EQ(problem("a: [1, 2\nb: 3\n"), "1:4 syntax: '[' is not closed");
  EXPECT_EQ(problem("a: [1, 2}\n"), "1:9 syntax: '}' does not close '['");
}

TEST(Reader, OtherSyntaxErrorsAreInOurWords) {
  EXPECT_EQ(problem("a: b: c\n"),
            "1:5 syntax: a second ':' on this line; text that holds ': ' needs quotes");
  EXPECT_EQ(problem("a: *b\n").substr(0, 11), "1:4 syntax:");
  EXPECT_EQ(problem("- 1\n- 2\n"),
            "1:1 syntax: a recipe is a map of keys, 'key: value' on each line");
  EXPECT_EQ(problem("just text\n"),
            "1:1 syntax: a recipe is a map of keys, 'key: value' on each line");
}

TEST(Reader, BoundsHostileInput) {
  EXPECT_EQ(problem(std::string(3000, '['), {}).substr(0, 4), "1:30") << "not closed";
  std::string deep = "a: " + std::string(200, '[') + std::string(200, ']') + "\n";
  EXPECT_EQ(problem(deep), "1:103 too-deep: nested deeper than 100 maps and lists");
  std::string bomb = "x0: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    const auto last = "*x" + std::to_string(i - 1);
    bomb += "x" + std::to_string(i) + ": &x" + std::to_string(i) + " [" + last;
    for (int k = 0; k < 9; ++k) bomb += ", " + last;
    bomb += "]\n";
  }
  EXPECT_THAT(
      problem(bomb),
      testing::HasSubstr(
          " too-many-nodes: more than 200000 values, those of anchors and aliases included"));
  // Every anchor keeps a copy of all below it: 99 copies of 10'000 values.
  std::string copies = "a: ";
  for (int i = 0; i < 99; ++i) copies += "&x" + std::to_string(i) + " [";
  for (int i = 0; i < 10'000; ++i) copies += "1,";
  EXPECT_THAT(
      problem(copies + std::string(99, ']') + "\n"),
      testing::HasSubstr(
          " too-many-nodes: more than 200000 values, those of anchors and aliases included"));
  EXPECT_EQ(problem("a: 12345\n", {.bytes = 4}), "1:1 too-large: larger than 4 B");
  EXPECT_EQ(problem("a: &a [*a]\n"), "1:8 alias: an alias inside its own anchor");
}

TEST(ReadValue, TakesAnyValueAndStandsWhereItWasGiven) {
  const Place place{"command line", 2, 0, 1};
  EXPECT_EQ(read_value("0.1", place).tree.text, "0.1");
  EXPECT_EQ(read_value("[1, 2]", place).tree.items[1].place.file, "command line");
  EXPECT_EQ(read_value("{type: adam}", place).tree.find("type")->place.line, 2);
  EXPECT_TRUE(read_value("", place).tree.is_null());
  EXPECT_EQ(read_value("[1", place).problems.at(0).place.line, 2);
}

TEST(Render, LooksLikeACompiler) {
  Problem problem{Severity::error,
                  "bad-value",
                  {"command line", 2, 0, 1},
                  "train.precision",
                  "'fp8' is not one of fp64, fp32"};
  EXPECT_EQ(render(problem),
            "command line:2: error[bad-value]: train.precision: 'fp8' is not one of fp64, fp32\n");
  auto other = problem;
  other.place.line = 3;
  EXPECT_EQ(render(Problems{other, problem}),
            render(problem) + render(other) + "2 errors; nothing was started\n");
}

TEST(Render, SaysOnceWhatTwoRecipesShare) {
  const Problem problem{Severity::warning, "no-effect", {"base.yaml", 2, 1, 1}, "", "unused"};
  EXPECT_EQ(render(Problems{problem, problem}), render(problem) + "1 warning\n");
}

TEST(Render, TellsOnceHowAFileWasReached) {
  Problem first{Severity::error, "bad-value", {"base.yaml", 2, 1, 1}, "", "one"};
  first.extended_from = {{"middle.yaml", 3, 12, 4}, {"top.yaml", 1, 10, 4}};
  auto second = first;
  second.place.line = 5;
  second.message = "two";
  EXPECT_EQ(render(Problems{first, second}),
            "base.yaml:2:1: error[bad-value]: one\n"
            "middle.yaml:3:12: note: extended from here\n"
            "top.yaml:1:10: note: extended from here\n"
            "base.yaml:5:1: error[bad-value]: two\n"
            "2 errors; nothing was started\n");
}

}  // namespace
}  // namespace ddptrain
