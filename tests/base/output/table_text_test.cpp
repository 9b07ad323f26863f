#include "base/output/table_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/output/named_table.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "base/text.h"
#include "support/numbers.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;

TEST(OneLine, EscapesWhatWouldSteerATerminal) {
  EXPECT_EQ(one_line("a\033[31mred\n\x7f", 40), "a\\x1b[31mred\\n\\x7f");
  EXPECT_EQ(one_line("bad \xff utf8, C1 \xc2\x9b", 40), "bad \\xff utf8, C1 \\x9b");
  EXPECT_EQ(one_line("\xc3\xa4\xe2\x82\xac", 40), "\xc3\xa4\xe2\x82\xac");
}

TEST(OneLine, IsCutToItsWidth) {
  EXPECT_EQ(one_line("0123456789", 10), "0123456789");
  EXPECT_EQ(one_line("0123456789a", 10), "0123456...");
  EXPECT_EQ(one_line("0123456789", 2), "01");
  EXPECT_EQ(one_line("\xe7\x8a\xac\xe7\x8a\xac\xe7\x8a\xac", 5),
            "\xe7\x8a\xac...");  // two columns each
}

TEST(Aligned, PutsNumbersFlushRight) {
  EXPECT_THAT(aligned({{"", "best"}, {"valid/loss", "1"}, {"x", "0.25"}}),
              ElementsAre("            best", "valid/loss     1", "x           0.25"));
}

TEST(ShortNumber, HasTheDigitsThatMatter) {
  EXPECT_EQ(short_number(0.9), "0.9");
  EXPECT_EQ(short_number(2.0 / 3), "0.66667");
  EXPECT_EQ(short_number(99999), "99999");
  EXPECT_EQ(short_number(-430987.4), "-430987");
  EXPECT_EQ(short_number(1234567890), "1.2346e+09");
}

TEST(Fitted, LeavesOutTheLeastImportantFieldsFirst) {
  const std::vector<StatusField> fields{{"step 98/300", 0}, {"epoch 0.98", 2}, {"loss 0.1234", 1}};
  EXPECT_EQ(fitted(fields, 36), "step 98/300  epoch 0.98  loss 0.1234");
  EXPECT_EQ(fitted(fields, 35), "step 98/300  loss 0.1234");
  EXPECT_EQ(fitted(fields, 23), "step 98/300");
  EXPECT_EQ(fitted(fields, 8), "step ...");
}

TEST(Terminal, TakesAsManyLinesAsFieldsNeed) {
  const std::vector<std::string> fields{"step 98", "valid/loss 0.1234", "valid/accuracy 0.9"};
  const auto all = "step 98  valid/loss 0.1234  valid/accuracy 0.9";
  EXPECT_THAT(in_lines(fields, 0), testing::ElementsAre(all));
  EXPECT_THAT(in_lines(fields, 47), testing::ElementsAre(all));
  EXPECT_THAT(in_lines(fields, 46),
              testing::ElementsAre("step 98  valid/loss 0.1234", "  valid/accuracy 0.9"));
  EXPECT_THAT(in_lines(fields, 10),
              testing::ElementsAre("step 98", "  valid/loss 0.1234", "  valid/accuracy 0.9"));
}

NamedTable animals() {
  return {NamedTable::Kind::confusion,
          "valid/confusion_matrix",
          "confusion",
          "true \\ predicted",
          {"cat", "do,g"},
          {"cat", "do,g"},
          {7, 2, 1, 9}};
}

TEST(Terminal, BreaksLinesAtBlanks) {
  EXPECT_EQ(broken_at_blanks("one two three\nfour\n", 0), "one two three\nfour\n");
  EXPECT_EQ(broken_at_blanks("one two three\nfour\n", 13), "one two three\nfour\n");
  EXPECT_EQ(broken_at_blanks("one two three\nfour\n", 12), "one two\nthree\nfour\n");
  EXPECT_EQ(broken_at_blanks("one two three four", 7), "one two\nthree\nfour");
  EXPECT_EQ(broken_at_blanks("a-very-long-word and", 7), "a-very-long-word\nand");
}

TEST(NamedTable, IsACsvWithTheTruthInRows) {
  EXPECT_EQ(to_csv(animals()), "true \\ predicted,cat,\"do,g\"\ncat,7,2\n\"do,g\",1,9\n");
}

TEST(NamedTable, IsShownWholeWhereItFits) {
  EXPECT_THAT(to_lines(animals(), 80),
              ElementsAre("valid/confusion_matrix", "true \\ predicted  cat  do,g",
                          "cat                 7     2", "do,g                1     9"));
}

TEST(NamedTable, IsShownAsTheMostConfusedPairsWhereItDoesNotFit) {
  EXPECT_THAT(to_lines(animals(), 24),
              ElementsAre("valid/confusion_matri...", "true  predicted  times",
                          "cat        do,g      2", "do,g        cat      1"));
}

TEST(NamedTable, NamesTheWeightsThatItIsOf) {
  auto table = animals();
  table.weights = {"best weights", 1200};
  EXPECT_EQ(to_lines(table, 80)[0], "valid/confusion_matrix: best weights, step 1200");
  EXPECT_THAT(to_lines(table, 24), testing::Contains("best weights, step 1200"));
  EXPECT_THAT(to_csv(table), testing::StartsWith(
                                 "\"true \\ predicted (best weights, step 1200)\",cat,\"do,g\"\n"));
  NamedTable scores{
      NamedTable::Kind::scores, "valid/classes", "classes", "class", {"a"}, {"f1"}, {0.5}};
  scores.weights = {"last weights", 40};
  EXPECT_EQ(to_csv(scores), "class,f1,weights,step\na,0.5,last weights,40\n");
}

/// A table of `columns` columns whose cells are numbers of all sizes, names and steps.
std::vector<std::vector<std::string>> drawn_table(std::mt19937& random, int rows, int columns) {
  const auto draw = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  const auto cell = [&]() -> std::string {
    const double value = std::ldexp(static_cast<double>(random()), draw(120) - 80);
    switch (draw(4)) {
      case 0:
        return short_number(-value);
      case 1:
        return short_number(value) + " (" + std::to_string(draw(100'000)) + ")";
      case 2:
        return "runs/a-long-name-" + std::to_string(draw(1'000'000)) + "/00" +
               std::to_string(draw(9));
      default:
        return draw(3) == 0 ? "" : short_number(value);
    }
  };
  std::vector<std::vector<std::string>> table{{"trial"}};
  for (int i = 1; i < columns; ++i) table[0].push_back("valid/metric_" + std::to_string(1000 + i));
  for (int row = 0; row < rows; ++row) {
    auto& line = table.emplace_back();
    for (int i = 0; i < columns; ++i) line.push_back(cell());
  }
  return table;
}

/// What `lines_at(columns)` gives holds no number that the whole table lacks, within its width.
void expect_whole_numbers(const std::function<std::vector<std::string>(std::size_t)>& lines_at) {
  const auto wide = join(lines_at(0), "\n");
  for (std::size_t columns = 20; columns <= 200; columns += columns < 60 ? 1 : 7) {
    const auto lines = lines_at(columns);
    const auto text = join(lines, "\n");
    EXPECT_THAT(test::broken_numbers(text, wide), testing::IsEmpty()) << columns << ":\n" << text;
    for (const auto& line : lines) EXPECT_LE(display_width(line), columns) << line;
  }
}

TEST(Tables, NeverCutANumberAtAnyWidth) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const auto table = drawn_table(random, 1 + round % 4, 1 + round % 9);
    expect_whole_numbers([&](std::size_t columns) { return table_lines(table, columns); });
  }
}

TEST(Tables, CutALineBeforeANumberThatDoesNotFit) {
  EXPECT_EQ(one_line("loss 1.077e+05 0.5", 11), "loss ...");
  EXPECT_EQ(one_line("loss 1.077e+05 0.5", 17), "loss 1.077e+05...");
  EXPECT_EQ(one_line("step-00000040", 10), "step...");
  EXPECT_EQ(one_line("plain words that go on", 12), "plain wor...");
}

TEST(Tables, OfANamedTableNeverCutANumber) {
  NamedTable table{
      NamedTable::Kind::confusion, "valid/confusion_matrix", "", "true \\ predicted", {}, {}, {}};
  for (int i = 0; i < 12; ++i)
    table.rows.push_back("class-" + std::to_string(1'000'000 + i) + "-of-a-long-name");
  table.columns = table.rows;
  for (int i = 0; i < 144; ++i) table.cells.push_back(10'000 + 7 * i);
  table.weights = {"best weights", 1234567};
  for (const auto kind : {NamedTable::Kind::confusion, NamedTable::Kind::scores}) {
    table.kind = kind;
    expect_whole_numbers([&](std::size_t columns) { return to_lines(table, columns); });
  }
}

TEST(NamedTable, FindsACellOfNamesWithSlashes) {
  NamedTable table = animals();
  table.rows = {"a", "a/b"};
  table.columns = {"b/c", "c"};
  EXPECT_EQ(find_cell(table, "valid/confusion_matrix/a/b/c"), 7);
  EXPECT_EQ(find_cell(table, "valid/confusion_matrix/a/b/b/c"), 1);
}

TEST(ShellWord, ReadsBackAsItself) {
  EXPECT_EQ(shell_line({"a", "b c", "it's", "x=1", "~", ""}), "a 'b c' 'it'\\''s' x=1 '~' ''");
}

TEST(AtomicFile, AppearsOnlyWhole) {
  const TemporaryFolder folder;
  const auto path = folder.path() + "/out.csv";
  { AtomicFile(path).write("half"); }
  EXPECT_THROW(read_text(path), Error);
  AtomicFile file(path);
  file.write("a,b\n");
  EXPECT_THROW(read_text(path), Error);
  file.write("1,2\n");
  file.commit();
  EXPECT_EQ(read_text(path), "a,b\n1,2\n");
  EXPECT_THROW(AtomicFile(folder.path()), Error);
  EXPECT_THROW(AtomicFile(folder.path() + "/none/x"), Error);
}

}  // namespace
}  // namespace ddptrain
