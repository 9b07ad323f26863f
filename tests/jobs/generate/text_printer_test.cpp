#include "jobs/generate/text_printer.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

struct Paper {
  std::string text;
  TextPrinter::Print print = [this](std::string_view piece) { text += piece; };
};

TEST(TextPrinter, ShowsOneTextAsItComes) {
  Paper paper;
  TextPrinter printer({"once"}, /*headed=*/false, paper.print);
  printer.add(0, " upon");
  EXPECT_EQ(paper.text, " upon");
  printer.add(0, " a time");
  printer.end(0);
  EXPECT_EQ(paper.text, " upon a time\n");
}

TEST(TextPrinter, EndsALineOnce) {
  Paper paper;
  TextPrinter printer({"a"}, /*headed=*/false, paper.print);
  printer.add(0, "line\n");
  printer.end(0);
  printer.cut();
  EXPECT_EQ(paper.text, "line\n");
}

TEST(TextPrinter, LaterTextsWaitForTheirTurn) {
  Paper paper;
  TextPrinter printer({"a", "b", "c"}, /*headed=*/true, paper.print);
  printer.add(1, "two");
  printer.add(0, "one");
  printer.end(1);
  printer.add(2, "thr");
  EXPECT_EQ(paper.text, "> a\none");
  printer.end(0);
  EXPECT_EQ(paper.text, "> a\none\n\n> b\ntwo\n\n> c\nthr");
  printer.add(2, "ee");
  printer.end(2);
  EXPECT_EQ(paper.text, "> a\none\n\n> b\ntwo\n\n> c\nthree\n\n");
}

TEST(TextPrinter, ATextThatIsCutEndsItsLine) {
  Paper paper;
  TextPrinter printer({"a"}, /*headed=*/false, paper.print);
  printer.add(0, "half");
  printer.cut();
  EXPECT_EQ(paper.text, "half\n");
}

TEST(FinishedText, IsOneLineOfJson) {
  EXPECT_EQ(to_json_line({"say \"a\"", "b\n", 3, TextEnd::stop}),
            "{\"prompt\":\"say \\\"a\\\"\",\"text\":\"b\\n\",\"tokens\":3,\"end\":\"stop\"}\n");
}

}  // namespace
}  // namespace ddptrain
