// The traps of YAML: each is one problem, at the line and column of the mistake.
#include <gtest/gtest.h>

#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

/// "line:column rule: message" of the only problem.
std::string trap_problem(const std::string& text) {
  const auto result = read_yaml(text, "a.yaml");
  EXPECT_EQ(result.problems.size(), 1u) << text;
  if (result.problems.empty()) return "none";
  const auto& p = result.problems[0];
  return std::to_string(p.place.line) + ":" + std::to_string(p.place.column) + " " + p.rule + ": " +
         p.message;
}

Node trap_tree(const std::string& text) {
  auto result = read_yaml(text, "a.yaml");
  EXPECT_TRUE(result.problems.empty()) << text << "\n" << render(result.problems);
  return result.tree;
}

/// Each text has this problem at the place next to it.
void expect_problem(const std::string& problem,
                    const std::vector<std::pair<std::string, std::string>>& texts) {
  for (const auto& [text, place] : texts)
    EXPECT_EQ(trap_problem(text), place + " syntax: " + problem) << text;
}

TEST(Traps, ATabBeforeText) {
  const std::string expected = "a tab stands before the text of this line; write spaces";
  EXPECT_EQ(trap_problem("a:\n\tb: 1\n"), "2:1 tab: " + expected);
  EXPECT_EQ(trap_problem("a:\n  \tb: 1\n"), "2:3 tab: " + expected);
  EXPECT_EQ(trap_tree("a:\t1\nb: 2\t# c\n\t\n").find("a")->text, "1") << "elsewhere it is a blank";
}

TEST(Traps, ASpaceThatIsMissingAfterTheColon) {
  expect_problem("a space is missing after the ':'",
                 {{"a: 1\nlr:0.1\nb: 2\n", "2:3"},
                  {"a: 1\nlr:0.1\n", "2:3"},
                  {"optimizer:\n  lr:0.1\n", "2:5"},
                  {"optimizer:\n  type: sgd\n  lr:0.1\n", "3:5"},
                  {"optimizer: {type: sgd, lr:0.1}\n", "1:26"},
                  {"optimizer: {lr:0.1}\n", "1:15"},
                  {"'lr':0.1\n", "1:5"}});
  EXPECT_EQ(trap_tree("a:\n  https://example.org\n").find("a")->text, "https://example.org");
}

TEST(Traps, AColonThatIsForgotten) {
  EXPECT_EQ(trap_problem("a: 1\nlr 0.1\nb: 2\n"), "2:3 syntax: a ':' is missing after 'lr'");
  EXPECT_EQ(trap_problem("lr 0.1\nb: 2\n"), "1:3 syntax: a ':' is missing after 'lr'");
  EXPECT_EQ(trap_problem("train\n  duration: 5 epochs\n"),
            "1:6 syntax: a ':' is missing after 'train'");
  EXPECT_EQ(trap_problem("train:\n  duration 5 epochs\n  precision: fp32\n"),
            "2:11 syntax: a ':' is missing after 'duration'");
  EXPECT_EQ(trap_problem("train:\n  precision: fp32\n  duration 5 epochs\n"),
            "3:11 syntax: a ':' is missing after 'duration'");
  EXPECT_EQ(trap_problem("train:\n  lr = 1\n  b: 1\n"), "2:6 syntax: '=' where a ':' belongs");
  EXPECT_EQ(trap_problem("b: 1\nlr=1\n"), "2:3 syntax: '=' where a ':' belongs");
  EXPECT_EQ(trap_tree("a:\n  text of its own\nb: 1\n").find("a")->text, "text of its own");
}

TEST(Traps, AnItemWhoseFirstKeyLacksItsColonIsReportedOnItsLine) {
  const std::string expected = "2:14 syntax: '=' where a ':' belongs; write 'duration: 5 epochs'";
  EXPECT_EQ(trap_problem("stages:\n  - duration = 5 epochs\n    schedule: constant\n"), expected);
  EXPECT_EQ(trap_problem("stages:\n  - duration = 5 epochs  # five\n    schedule: constant\n"),
            expected);
  EXPECT_EQ(trap_problem("stages:\n  - duration = 5 epochs\n    schedule:\n      - a\n"), expected);
  EXPECT_EQ(trap_problem("a:\n- lr=0.1\n  b: 1\n- lr: 2\n"),
            "2:5 syntax: '=' where a ':' belongs; write 'lr: 0.1'");
  EXPECT_EQ(trap_problem("a:\n  - lr 0.1\n    b: 1\n"),
            "2:7 syntax: a ':' is missing after 'lr'; write 'lr: 0.1'");
  EXPECT_EQ(trap_problem("a:\n  - lr =\n    b: 1\n"),
            "2:8 syntax: '=' where a ':' belongs; write 'lr: '");
  EXPECT_EQ(trap_problem("a:\n  - conv\n    out: 3\n"),
            "3:5 syntax: indented deeper than its siblings, which stand at column 3");
  EXPECT_EQ(trap_tree("a:\n  - b = 1\n  - c\n").find("a")->items[0].text, "b = 1");
}

TEST(Traps, AQuoteIsReportedWhereItOpened) {
  const std::string expected =
      " quote: the quote is not closed on its line; long text is written with '|' or '>'";
  EXPECT_EQ(trap_problem("a: 'x\nb: 'y'\n"), "1:4" + expected);
  EXPECT_EQ(trap_problem("a:\n  - \"x\n  - 'y'\n"), "2:5" + expected);
  EXPECT_EQ(trap_problem("a: {b: 'x, c: 1}\n"), "1:8" + expected);
  EXPECT_EQ(trap_problem("a: 'it's'\n"),
            "1:8 syntax: text behind the end of a value; a value with quotes inside needs quotes "
            "around");
  EXPECT_EQ(trap_problem("a: ['x' 'y']\n"), "1:9 syntax: a ',' is missing before this");
}

TEST(Traps, ABracketIsReportedWhereItOpened) {
  EXPECT_EQ(trap_problem("a: [1, 2\nb: 3\n"), "1:4 syntax: '[' is not closed");
  EXPECT_EQ(trap_problem("a: {x: 1\nb: {y: 2}\n"), "1:4 syntax: '{' is not closed");
  EXPECT_EQ(trap_problem("a:\n  - {x: 1\n  - {y: 2}\n"), "2:5 syntax: '{' is not closed");
  EXPECT_EQ(trap_problem("a: {b: [1, 2, c: 3}\n"), "1:8 syntax: '[' is not closed");
  EXPECT_EQ(trap_problem("a: [1, 2"), "1:4 syntax: '[' is not closed");
  EXPECT_EQ(trap_problem("a: [1, 2}\n"), "1:9 syntax: '}' does not close '['");
  EXPECT_EQ(trap_problem("a: [1, 2]]\n"), "1:10 syntax: ']' closes nothing; text needs quotes");
  EXPECT_EQ(trap_problem("a: ]\n"), "1:4 syntax: ']' closes nothing; text needs quotes");
  EXPECT_EQ(trap_tree("a: [1,\n  2,\n]\nb: {\n  x: 1\n}\n").find("a")->items.size(), 2u);
}

TEST(Traps, ABracketThatNobodyOpened) {
  EXPECT_EQ(trap_problem("batch: global: 64}\n"), "1:8 syntax: a '{' is missing before this");
  EXPECT_EQ(trap_problem("a:\n  - type: b, c: 1}\n"), "2:5 syntax: a '{' is missing before this");
  EXPECT_EQ(trap_problem("a: {b: 0.9, 0.99], c: 1}\n"), "1:8 syntax: a '[' is missing before this");
}

TEST(Traps, ACommaThatIsMissing) {
  EXPECT_EQ(trap_problem("a: {type: sgd lr: 0.1}\n"), "1:15 syntax: a ',' is missing before 'lr'");
  EXPECT_EQ(trap_problem("a: [{b: 1} {b: 2}]\n"), "1:12 syntax: a ',' is missing before this");
}

TEST(Traps, ASecondColon) {
  const std::string expected =
      " syntax: a second ':' on this line; text that holds ': ' needs quotes";
  EXPECT_EQ(trap_problem("key: value: more\n"), "1:11" + expected);
  EXPECT_EQ(trap_problem("a:\n  - name: b: c\n"), "2:12" + expected);
  EXPECT_EQ(trap_tree("a: 'b: c'\n").find("a")->text, "b: c");
}

TEST(Traps, TextThatStartsLikeSomethingElse) {
  EXPECT_EQ(trap_problem("a: @b\n"), "1:4 syntax: text that starts with '@' needs quotes");
  EXPECT_EQ(trap_problem("a: [`b`]\n"), "1:5 syntax: text that starts with '`' needs quotes");
  EXPECT_EQ(trap_problem("a: %b\n"), "1:4 syntax: text that starts with '%' needs quotes");
  EXPECT_EQ(trap_problem("a: *.csv\n"),
            "1:4 syntax: no anchor of this name stands before it; text that starts with '*' needs "
            "quotes");
  EXPECT_EQ(trap_problem("a: !b\n"),
            "1:4 tag: tags are not read; leave it out, or put the text in "
            "quotes");
}

TEST(Traps, AChildIndentedUnlikeItsSiblings) {
  EXPECT_EQ(trap_problem("train:\n  duration: 5 epochs\n    precision: fp32\n"),
            "3:5 syntax: indented deeper than its siblings, which stand at column 3");
  EXPECT_EQ(trap_problem("train:\n  clip:\n    max: 1\n   precision: fp32\n"),
            "4:4 syntax: the indentation fits nothing above; its siblings stand at column 5 or "
            "column 3");
  EXPECT_EQ(trap_problem("train:\n    duration: 1\n  precision: fp32\n"),
            "3:3 syntax: the indentation fits nothing above; its siblings stand at column 5 or "
            "column 1");
  EXPECT_EQ(trap_problem("  a: 1\nb: 2\n"),
            "2:1 syntax: indented less than what stands above, at column 3");
  EXPECT_EQ(trap_problem("a: 1\n b: 2\n"),
            "2:2 syntax: indented deeper than its siblings, which stand at column 1");
  EXPECT_EQ(trap_problem("m:\n  - a\n    - b\n"),
            "3:5 syntax: indented deeper than its siblings, which stand at column 3");
}

TEST(Traps, DashesInTheWrongPlace) {
  EXPECT_EQ(trap_problem("m:\n  - a\n  -b\n"), "3:3 syntax: a space is missing after the '-'");
  EXPECT_EQ(trap_problem("m:\n  -a\n  -b\n"), "2:3 syntax: a space is missing after the '-'");
  EXPECT_EQ(trap_problem("m:\n  -{type: a}\n"), "2:3 syntax: a space is missing after the '-'");
  EXPECT_EQ(trap_problem("o:\n  type: sgd\n  - lr: 1\n"),
            "3:3 syntax: a '-' among the keys of a map; leave it out, or give the list a key of "
            "its own");
  EXPECT_EQ(trap_problem("m:\n  - a\n  b: 1\n"),
            "3:3 syntax: a key among the items of a list; a '-' is missing, or the indentation is "
            "wrong");
  EXPECT_EQ(trap_problem("m: - a\n"),
            "1:4 syntax: a list starts on a line of its own, or is written [a, b]");
  EXPECT_EQ(trap_tree("m:\n- a\n- -1\nn: -2\n").find("m")->items.size(), 2u);
}

TEST(Traps, WindowsLineEndsAndAByteOrderMarkAreFine) {
  const auto map = trap_tree(
      "\xEF\xBB\xBF"
      "a:\r\n  - {x: 1}\r\n  - [2,\r\n    3]\r\nb: |\r\n  text\r\nc: 'q'\r\n");
  EXPECT_EQ(map.find("a")->items[1].items[1].text, "3");
  EXPECT_EQ(map.find("c")->text, "q");
  EXPECT_EQ(trap_problem("a: 1\r\nlr 0.1\r\nb: 2\r\n"), "2:3 syntax: a ':' is missing after 'lr'");
}

TEST(Traps, CharactersOfWordProcessorsAreSaidByName) {
  EXPECT_EQ(trap_problem("a:\xC2\xA0"
                         "1\n"),
            "1:3 syntax: no-break space (U+00A0); write a plain space");
  EXPECT_EQ(trap_problem("a:\n\xC2\xA0 b: 1\n"),
            "2:1 syntax: no-break space (U+00A0); write a plain space");
  EXPECT_EQ(trap_problem("a: {b:\xE2\x80\x89"
                         "1}\n"),
            "1:7 syntax: thin space (U+2009); write a plain space");
  EXPECT_EQ(trap_problem("l\xE2\x80\x8Br: 1\n"),
            "1:2 syntax: zero width space (U+200B); write nothing");
  EXPECT_EQ(trap_problem("a: \xE2\x80\x9Cx\xE2\x80\x9D\n"),
            "1:4 syntax: left double quotation mark (U+201C); write '\"'");
  EXPECT_EQ(trap_problem("a: [\xE2\x80\x98x\xE2\x80\x99]\n"),
            "1:5 syntax: left single quotation mark (U+2018); write \"'\"");
  EXPECT_EQ(trap_problem("m:\n  \xE2\x80\x93 a\n"), "2:3 syntax: en dash (U+2013); write '-'");
  EXPECT_EQ(trap_tree("a: 'no\xC2\xA0"
                      "break' # \xC2\xA0\n")
                .find("a")
                ->text,
            "no\xC2\xA0"
            "break");
  EXPECT_EQ(trap_tree("a: it\xE2\x80\x99s\n").find("a")->text, "it\xE2\x80\x99s");
}

TEST(Traps, GoodYamlStaysGood) {
  const auto map = trap_tree(
      "---\n# c\nx-a: &m\n  k: 1\na: *m\nb:\n- c: 1\n  d:\n  - e\n- - 1\n  - 2\n'q': [a, 'b',\n"
      "  {c: d, \"e\":1}]  # tail\nl:\n  &n\n  v: 1\nt: >-\n  folded: text\n  more\nu: "
      "-1\nlast:\n...\n");
  EXPECT_EQ(map.find("b")->items[0].find("d")->items[0].text, "e");
  EXPECT_EQ(map.find("b")->items[1].items[1].text, "2");
  EXPECT_EQ(map.find("q")->items[2].find("e")->text, "1");
  EXPECT_EQ(map.find("l")->find("v")->text, "1");
  EXPECT_EQ(map.find("t")->text, "folded: text more");
  EXPECT_TRUE(map.find("last")->is_null());
}

TEST(Traps, EscapesThatAreNone) {
  EXPECT_EQ(trap_problem("a: \"it\\'s\"\n"),
            "1:7 syntax: \"\\'\" is no escape; between double quotes write \"'\" alone");
  EXPECT_EQ(
      trap_problem("a: [1, \"\\d+\"]\n"),
      "1:9 syntax: '\\d' is no escape; write '\\\\d' for a backslash, or put the text in single "
      "quotes");
  EXPECT_EQ(trap_problem("\"a\\xZ1\": 1\n"), "1:3 syntax: '\\x' needs 2 hexadecimal digits");
  EXPECT_EQ(trap_problem("a: \"\\u12\"\n"), "1:5 syntax: '\\u' needs 4 hexadecimal digits");
  EXPECT_EQ(trap_problem("a: \"\\u0000\"\n"),
            "1:5 syntax: '\\u0000' is the character NUL, which no text may hold");
  EXPECT_EQ(trap_tree("a: \"\\t\\\"\\\\\\/\\x41\\u00e9\\U0001F600\"\n").find("a")->text,
            "\t\"\\/A\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(trap_tree("a: '\\d+'\nb: \\d+\nc: |\n  \\d+\n").find("a")->text, "\\d+")
      << "no escapes";
}

// JSON (RFC 8259, section 7) writes characters above U+FFFF as two escapes.
TEST(Traps, SurrogatePairsAreOneCharacter) {
  const auto read =
      trap_tree("a: [\"x\\uD83D\\uDE00y\", b, \"\\ud834\\udd1e\"] # c\nb: '\\uD83D\\uDE00'\n");
  const auto& items = read.find("a")->items;
  EXPECT_EQ(items[0].text, "x\xF0\x9F\x98\x80y");
  EXPECT_EQ(items[2].text, "\xF0\x9D\x84\x9E");
  EXPECT_EQ(items[1].place.column, 23) << "places are those of the text as written";
  EXPECT_EQ(items[2].place.column, 26);
  EXPECT_EQ(read.find("b")->text, "\\uD83D\\uDE00");
  const std::string half = "' is half a character; '";
  EXPECT_EQ(trap_problem("a: \"\\uD83D\"\n"),
            "1:5 syntax: '\\uD83D" + half + "\\uDC00' to '\\uDFFF' must follow it");
  EXPECT_EQ(trap_problem("a: \"\\uD83D\\u0041\"\n"),
            "1:5 syntax: '\\uD83D" + half + "\\uDC00' to '\\uDFFF' must follow it");
  EXPECT_EQ(trap_problem("a: \"\\uDE00\"\n"),
            "1:5 syntax: '\\uDE00" + half + "\\uD800' to '\\uDBFF' must stand before it");
}

TEST(Traps, ACommaWithNothingBeforeIt) {
  expect_problem("nothing stands before this ','; leave it out, or write null",
                 {{"a: [1, , 2]\n", "1:8"},
                  {"a: [, 1]\n", "1:5"},
                  {"a: [1,,]\n", "1:7"},
                  {"a: {b: 1, , c: 2}\n", "1:11"},
                  {"a: {,}\n", "1:5"}});
  EXPECT_EQ(trap_tree("a: [1, 2, ]\nb: {c: 1,}\n").find("a")->items.size(), 2U)
      << "the last may end in one";
}

TEST(Traps, ACommentBehindNoSpace) {
  expect_problem(
      "a space is missing before the '#'; text that holds it needs quotes around all of "
      "it",
      {{"a: \"b\"#c\n", "1:7"},
       {"a: 'b'#c\n", "1:7"},
       {"a: [1]#c\n", "1:7"},
       {"a: [1,#c\n  2]\n", "1:7"},
       {"a: {b: \"c\"#d\n  }\n", "1:11"},
       {"a: |#c\n  b\n", "1:5"}});
  EXPECT_EQ(trap_tree("a: b#c\n").find("a")->text, "b#c") << "inside of a word it is text";
}

TEST(Traps, TextOverSeveralLines) {
  const auto message_of = [](const std::string& word) {
    return " syntax: text goes on from the line above; write it on one line, or with '|' or '>'; "
           "if '" +
           word + "' is a key, a ':' is missing after it";
  };
  EXPECT_EQ(trap_problem("a: one\n  two three\nb: 1\n"), "2:3" + message_of("two"));
  EXPECT_EQ(trap_problem("a:\n  one\n  two\n"), "3:3" + message_of("two"));
  EXPECT_EQ(trap_problem("a:\n  - one\n    two\n"), "3:5" + message_of("two"));
  EXPECT_EQ(trap_problem("a: one\n\n  two\n"), "3:3" + message_of("two"));
  EXPECT_EQ(trap_problem("a: [one\n  two]\n"),
            "2:3 syntax: a ',' is missing before this; text in brackets stands on one line");
  EXPECT_EQ(trap_tree("a: >\n  one\n  two\n").find("a")->text, "one two\n");
}

TEST(Traps, BlockTextsBeginOnTheNextLine) {
  const std::string expected =
      "' starts on the next line; on its own stand '-' or '+' and an indentation of 1 to 9 at most";
  EXPECT_EQ(trap_problem("a: | b\n  c\n"), "1:6 syntax: the text of '|" + expected);
  EXPECT_EQ(trap_problem("a: >0\n  c\n"), "1:5 syntax: the text of '>" + expected);
  EXPECT_EQ(trap_problem("a: |\n   b\n  c\n"),
            "3:3 syntax: left of the text of the '|' or '>' above, which starts at column 4");
  EXPECT_EQ(trap_tree("a: |2-  # c\n   b\n  c\n").find("a")->text, " b\nc");
}

TEST(Traps, MarksThatAreNoText) {
  EXPECT_EQ(trap_problem("a: ,b\n"), "1:4 syntax: text that starts with ',' needs quotes");
  EXPECT_EQ(trap_problem("a: [-, b]\n"),
            "1:5 syntax: a '-' has no meaning in brackets; text needs quotes");
  EXPECT_EQ(trap_problem("a: {? b: 1}\n"), "1:5 key: '? ' keys are not read; write 'key: value'");
  EXPECT_EQ(trap_problem("a: ?\n"), "1:4 syntax: '?' alone is no text; put it in quotes");
  EXPECT_EQ(trap_problem("a: &x &y 1\n"), "1:7 syntax: a value has one anchor; this is a second");
  EXPECT_EQ(trap_problem("a: &x 1\nb: &y *x\n"), "2:7 syntax: an alias has no anchor of its own");
  EXPECT_EQ(trap_problem("a:\n  -\tb: 1\n"), "2:4 tab: a tab stands behind the '-'; write a space");
}

}  // namespace
}  // namespace ddptrain
