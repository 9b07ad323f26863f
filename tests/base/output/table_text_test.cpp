#include "base/output/table_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/output/named_table.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
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
  EXPECT_EQ(short_number(1234567), "1.2346e+06");
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
