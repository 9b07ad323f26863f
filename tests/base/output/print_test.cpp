#include "base/output/print.h"

#include <gtest/gtest.h>

#include "base/output/color.h"
#include "support/terminal.h"

namespace ddptrain {
namespace {

// Names of classes and files are others' text: in a file they are data.
TEST(PrintExact, OnATerminalSteersNothing) {
  const std::string title = "cat\x1b]0;owned\x07,\x1b[2J,\u202e,0.5\n";
  EXPECT_EQ(test::on_terminal(80, [&] { print_exact(title), flush_stdout(); }),
            "cat\\x1b]0;owned\\x07,\\x1b[2J,\\u202e,0.5\r\n");
  testing::internal::CaptureStdout();
  print_exact(title);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), title);
}

TEST(PrintInked, HasColorsOnATerminalAlone) {
  const std::vector<InkedText> texts{
      {"a", Ink::faint}, {"\x1b[2J", Ink::plain}, {"b\n", Ink::mark}};
  EXPECT_EQ(test::on_terminal(80, [&] { print_inked(texts), flush_stdout(); }),
            "\x1b[2ma\x1b[0m\\x1b[2J\x1b[36mb\r\n\x1b[0m");
  testing::internal::CaptureStdout();
  print_inked(texts);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a\\x1b[2Jb\n");
}

}  // namespace
}  // namespace ddptrain
