// transfer.json to what a person reads, and back.
#include "runs/transfer.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Transfer small_transfer() {
  TransferGroup words{
      .what = "words", .tensors = {"embedding.weight"}, .copied = 12, .moved = 2988};
  words.initialized = 2;
  words.dropped = 1;
  words.how = "mean of the old rows";
  words.fresh_names = {"plot", "\x1b[1m"};
  words.dropped_names = {"story"};
  TransferGroup classes{.what = "classes", .tensors = {"head.weight"}, .copied = 2};
  classes.note = "row by row: the file names no classes";
  return {"runs/a/001", {words, classes, {.what = "tensors", .copied = 18}}, {"another tokenizer"}};
}

TEST(TransferFile, ComesBackAsItWas) {
  EXPECT_EQ(transfer_of(to_json(small_transfer())), small_transfer());
  for (const char* text : {"", "[]", R"({"file": 3})"})
    EXPECT_THAT([&] { transfer_of(text); },
                testing::ThrowsMessage<Error>("transfer.json cannot be read"));
}

TEST(TransferLines, AreATableWithWhatItDoesNotSayBelow) {
  EXPECT_THAT(
      to_lines(small_transfer()),
      ElementsAre("  rows by name   copied  moved  re-initialized  dropped",
                  "  words              12   2988               2        1",
                  "  classes             2      0               0        0",
                  "  other tensors      18      0               0        0",
                  "  words, re-initialized (mean of the old rows): 'plot', '\\x1b[1m'",
                  "  words, dropped: 'story'", "  classes: row by row: the file names no classes"));
}

TEST(TransferLines, NameEightOfMany) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back(std::to_string(i));
  EXPECT_THAT(few_names(names), HasSubstr("'7' and 12 more"));
  EXPECT_EQ(few_names({}), "");
}

}  // namespace
}  // namespace ddptrain
