#include "base/output/print.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ddptrain
