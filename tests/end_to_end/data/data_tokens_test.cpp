// Tokens of a language model: `data tokens`, and `data show` and `data stats` of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

constexpr const char* kSmallTexts = R"(recipe: 1
model: {type: gpt2}
data:
  type: text_csv
  file: t.csv
  task: language_model
  valid: {fraction: null, rows: [2]}
  vocabulary: {min_freq: 1}
  cache: cache
  blocks: {layout: packed, length: 6}
  sampler: sequential
batch: {global: 2}
)";

void write_words(const Folder& folder) {
  write(folder / "t.csv", "text\na good film\nbad\na film\n");
  write(folder / "words.yaml", kSmallTexts);
}

/// What a command writes to stdout.
std::string output_of(const Folder& folder, const std::vector<std::string>& words) {
  const auto ended = run(words, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  return ended.out;
}

TEST(DataTokens, AreShownWithTheirDocuments) {
  const Folder folder;
  write_words(folder);
  EXPECT_EQ(output_of(folder, {"data", "show", "words.yaml"}),
            "block 0: | [xxbos] a good film | [xxbos] bad\n");
  EXPECT_EQ(output_of(folder, {"data", "show", "words.yaml", "--split", "valid"}),
            "block 0: | [xxbos] a film\n");
  EXPECT_THAT(output_of(folder, {"data", "show", "words.yaml", "--color", "always"}),
              HasSubstr("\x1b[2m xxbos\x1b[0m a good film"));
}

TEST(DataTokens, AreReadFromTheFilesThatWereWritten) {
  const Folder folder;
  write_words(folder);
  const auto ended = run({"data", "tokens", "words.yaml", "files"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("wrote 6 tokens of 2 documents into files/train.tokens"));
  EXPECT_THAT(ended.err, HasSubstr("wrote 3 tokens of 1 document into files/valid.tokens"));
  const std::vector<std::string> file{
      "data={type: token_file, train: files/train.tokens, valid: "
      "files/valid.tokens, tokenizer: fastai, sampler: sequential, "
      "blocks: {layout: packed, length: 6}}"};
  EXPECT_EQ(output_of(folder, {"data", "show", "words.yaml", file[0]}),
            output_of(folder, {"data", "show", "words.yaml"}));
  const auto stats = output_of(folder, {"data", "stats", "words.yaml", file[0]});
  EXPECT_THAT(stats, testing::ContainsRegex("documents +2 +1\n"));
  EXPECT_THAT(stats, testing::ContainsRegex("tokens +6 +3\n"));
}

TEST(DataTokens, AreNotOfLabels) {
  const Folder folder;
  write(folder / "t.csv", "text,label\na good film,1\nbad,0\na film,1\n");
  write(folder / "words.yaml", kSmallTexts);
  const auto ended = run({"data", "tokens", "words.yaml", "data.task=classification",
                          "model=awd_lstm", "~data.blocks", "data.padding=chunks", "files"},
                         folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("data: 'text_csv' gives no tokens; write a dataset of texts "
                                   "with 'task: language_model'"));
  EXPECT_THAT(run({"data", "tokens", "words.yaml"}, folder.path()).err,
              HasSubstr("usage: ddptrain data tokens RECIPE FOLDER"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
