// What README.md shows is what the program says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

// The text test of the recipe holds the program to the messages.
TEST(Readme, ShowsTenMistakesAndTheirMessages) {
  const auto readme = read_text(test::in_source("README.md"));
  EXPECT_THAT(readme, HasSubstr(read_text(test::in_source("tests/recipes/ten_mistakes.yaml"))));
  int messages = 0;
  for (const auto& line :
       split(read_text(test::in_source("tests/recipes/ten_mistakes.expected")), '\n')) {
    if (!line.starts_with("ten_mistakes.yaml:")) continue;
    EXPECT_THAT(readme, HasSubstr(line + "\n"));
    ++messages;
  }
  EXPECT_EQ(messages, 10);
}

}  // namespace
}  // namespace ddptrain
