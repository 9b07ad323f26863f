// Lists of words next to weights. transfer/*.pkl were written by Python's pickle
// (tests/golden/transfer.py).
#include "checkpoint/words_file.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "support/where.h"
#include "tensors.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string golden_words(const std::string& name) {
  return test::in_source("tests/golden/transfer/" + name);
}

TEST(WordsFile, IsAPickledListOrTheFirstOfFastaisVocabularies) {
  const auto list = read_words(golden_words("plain.pkl"));
  ASSERT_EQ(list.size(), 14U);
  EXPECT_EQ(list.front(), "xxunk");
  EXPECT_EQ(list.back(), "bad");
  EXPECT_EQ(read_words(golden_words("with_optimizer.pkl")), list);
}

TEST(WordsFile, MayBeJson) {
  const TemporaryFolder folder;
  write_bytes(folder / "words.json", R"(["a", "b"])");
  EXPECT_THAT(read_words(folder / "words.json"), testing::ElementsAre("a", "b"));
  write_bytes(folder / "words.json", R"(["a", 2])");
  EXPECT_THAT([&] { read_words(folder / "words.json"); },
              ThrowsMessage<Error>(HasSubstr("item 1 of its list is no text")));
}

TEST(WordsFile, ThatIsSomethingElseIsRefused) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& bytes) {
    write_bytes(folder / "x.pkl", bytes);
    try {
      read_words(folder / "x.pkl");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal("]."), "'" + (folder / "x.pkl") +
                               "': holds no list of texts; a list of words is expected, such as "
                               "fastai's itos.pkl, in order of their numbers");
  EXPECT_EQ(refusal("}."), "'" + (folder / "x.pkl") +
                               "': holds no list of texts; a list of words is expected, such as "
                               "fastai's itos.pkl, in order of their numbers");
  EXPECT_THAT(refusal(std::string("](X\1\0\0\0aK\1e.", 12)),
              HasSubstr("item 1 of its list is no text"));
  EXPECT_THAT(refusal(std::string("cos\nsystem\n(X\2\0\0\0lstR.", 22)),
              HasSubstr("asks for a call of 'os.system'"));
}

// A megabyte of references to one long text would be gigabytes of words.
TEST(WordsFile, DoesNotUnfoldToMoreThanItsBytes) {
  const TemporaryFolder folder;
  std::string bytes = "](X";
  const std::string text(1 << 16, 'a');
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 255);
  bytes += text + "q";
  bytes += '\1';
  for (int i = 0; i < 1 << 16; ++i) bytes += std::string("h\1", 2);
  write_bytes(folder / "x.pkl", bytes + "e.");
  EXPECT_THAT([&] { read_words(folder / "x.pkl"); },
              ThrowsMessage<Error>("'" + (folder / "x.pkl") +
                                   "': repeats a long text; a list of words is expected, such as "
                                   "fastai's itos.pkl, in order of their numbers"));
}

}  // namespace
}  // namespace ddptrain
