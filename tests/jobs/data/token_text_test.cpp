#include "jobs/data/token_text.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

Preview two_documents() {
  Preview sample;
  sample.name = "block 3";
  sample.tokens = {{"a", true, false}, {"b\n", false, true}, {"c", true, false}};
  return sample;
}

std::string joined_text(const std::vector<InkedText>& texts) {
  std::string all;
  for (const auto& each : texts) all += each.text;
  return all;
}

TEST(TokenText, MarksDocumentsAndTokensThatAreOnlyRead) {
  EXPECT_EQ(joined_text(token_text(two_documents(), TokenMarks::brackets)),
            "block 3: | [a] b\\n | [c]\n");
  const auto inked = token_text(two_documents(), TokenMarks::color);
  EXPECT_EQ(joined_text(inked), "block 3: | a b\\n | c\n");
  EXPECT_EQ(inked.at(1), (InkedText{" |", Ink::mark}));
  EXPECT_EQ(inked.at(2), (InkedText{" a", Ink::faint}));
  EXPECT_EQ(inked.at(3), (InkedText{" b\\n", Ink::plain}));
}

}  // namespace
}  // namespace ddptrain
