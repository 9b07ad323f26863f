#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "data/text_data.h"
#include "support/unreadable.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Words = std::vector<std::string>;
using Ids = std::vector<std::int64_t>;

TEST(TextFolder, NumbersTextsByTheWordsOfTheTrainingTexts) {
  const TemporaryFolder folder;
  write_reviews(folder);
  const auto data = make_texts(text_recipe(folder));
  EXPECT_EQ(data->size(Split::train), 4);
  EXPECT_EQ(data->size(Split::valid), 2);
  EXPECT_EQ(data->facts().classes, (Words{"neg", "pos"}));
  EXPECT_EQ(data->facts().padding, 1);
  EXPECT_EQ(data->facts().cardinalities.at(0) % 8, 0);
  EXPECT_EQ(words_of(*data, Split::train, 0),
            (Words{"xxbos", "bad", "bad", "film", "it", "was", "a", "bad", "film"}));
  EXPECT_EQ(words_of(*data, Split::valid, 0), (Words{"xxbos", "bad", "xxunk"}));
  EXPECT_EQ(data->label(Split::valid, 1), 1);
  EXPECT_EQ(data->sample_name(Split::valid, 1), "valid/pos/0.txt");
  EXPECT_EQ(data->length(Split::valid, 1), 6);
  // The commonest first (film 5, a 4, bad 3, good 3), of equally common ones the first met.
  const auto tokens = json::parse(data->state()).at("vocabulary");
  EXPECT_EQ(tokens.at(9), "film");
  EXPECT_EQ(tokens.at(10), "a");
  EXPECT_EQ(tokens.at(11), "bad");
  EXPECT_EQ(tokens.at(12), "good");
}

TEST(TextFolder, FillsRowsUpOnTheSideThatIsAsked) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  const auto row = ids_of(*make_texts(recipe), Split::train, 2);
  ASSERT_EQ(row.size(), 3);
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2, 5), (Ids{row[0], row[1], row[2], 1, 1}));
  recipe["padding"] = "first";
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2, 5), (Ids{1, 1, row[0], row[1], row[2]}));
  recipe["padding"] = {{"side", "last"}, {"multiple", 4}};
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2, 3), (Ids{row[0], row[1], row[2], 1}));
}

TEST(TextFolder, ReadsADocumentFromItsEnd) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  const auto row = ids_of(*make_texts(recipe), Split::train, 2);
  recipe["backwards"] = true;
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2), (Ids{row[2], row[1], row[0]}));
  recipe["padding"] = "first";
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2, 5), (Ids{1, 1, row[2], row[1], row[0]}));
}

TEST(TextFolder, CutsOffWhatIsTooLong) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["max_length"] = 3;
  EXPECT_EQ(words_of(*make_texts(recipe), Split::train, 0), (Words{"xxbos", "bad", "bad"}));
  recipe["truncate"] = "start";
  EXPECT_EQ(words_of(*make_texts(recipe), Split::train, 0), (Words{"a", "bad", "film"}));
}

TEST(TextFolder, KeepsTheTokensAroundATextThatIsCutOff) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["tokenizer"] = {{"type", "wordpiece"},
                         {"file", test::in_source("tests/text/tokenizer_files/bert.json")}};
  recipe["max_length"] = 4;
  const auto data = make_texts(recipe);
  const auto words = words_of(*data, Split::train, 0);
  ASSERT_EQ(words.size(), 4);
  EXPECT_EQ(words.front(), "[CLS]");
  EXPECT_EQ(words.back(), "[SEP]");
  EXPECT_EQ(data->facts().padding, 0);
}

TEST(TextFolder, WithoutAPaddingTokenAddsANumber) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["tokenizer"] = {{"type", "bpe"},
                         {"file", test::in_source("tests/text/tokenizer_files/gpt2.json")}};
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->facts().padding, 500);
  EXPECT_EQ(data->facts().cardinalities, (Ids{501}));
}

TEST(TextFolder, HoldsOutAFraction) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["valid"] = {{"fraction", 0.25}};
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->size(Split::train), 3);
  EXPECT_EQ(data->size(Split::valid), 1);
}

TEST(TextFolder, HoldsOutWhatAListNames) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["valid"] = {{"list", folder.write("held.txt", "train/pos/1.txt\n\n")}};
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->size(Split::train), 3);
  EXPECT_EQ(data->sample_name(Split::valid, 0), "train/pos/1.txt");
  recipe["valid"] = {{"list", folder.write("wrong.txt", "train/pos/1.txt\nnone.txt")}};
  EXPECT_THAT(complaint_of_texts(recipe), HasSubstr("wrong.txt:2: no text 'none.txt'"));
  recipe["valid"] = {{"list", folder.write("all.txt", "0.txt\n1.txt")}};
  EXPECT_THAT(complaint_of_texts(recipe),
              testing::StrEq("data.valid.list: leaves no text of 4 for training"));
}

TEST(TextFolder, LeavesOutOnlyWhatItIsTold) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/unsup/0.txt", "no opinion");
  folder.write("train/words.feat", "1:2");
  auto recipe = text_recipe(folder);
  EXPECT_THAT(complaint_of_texts(recipe),
              HasSubstr("train/words.feat' is a file next to the class folders"));
  recipe["ignore"] = {"*.feat"};
  EXPECT_EQ(make_texts(recipe)->facts().classes, (Words{"neg", "pos", "unsup"}));
  recipe["ignore"] = {"*.feat", "unsup"};
  EXPECT_EQ(make_texts(recipe)->facts().classes, (Words{"neg", "pos"}));
}

TEST(TextFolder, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint_of_texts(text_recipe(folder)),
              testing::EndsWith("/train'; name another, or an archive under data.source"));
  write_reviews(folder);
  folder.write("valid/mixed/0.txt", "so so");
  EXPECT_THAT(complaint_of_texts(text_recipe(folder)),
              HasSubstr("class 'mixed' (of 'valid/mixed/0.txt') "
                        "is only in the valid split"));
}

TEST(TextFolder, SaysWhichTextIsNotUtf8OrReplacesOrLeavesItOut) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/neg/2.txt", "caf\xe9 bad");
  folder.write("train/pos/2.txt", "\xff");
  auto recipe = text_recipe(folder);
  EXPECT_THAT(complaint_of_texts(recipe), HasSubstr("train/neg/2.txt: not UTF-8 text (byte 4)"));
  DataContext skip;
  skip.skip_bad_samples = true;
  EXPECT_EQ(make_texts(recipe, skip)->size(Split::train), 4);
  recipe["invalid_utf8"] = "replace";
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->size(Split::train), 6);
  EXPECT_EQ(words_of(*data, Split::train, 2), (Words{"xxbos", "caf", "\ufffd", "bad"}));
}

TEST(TextFolder, AnEmptyTextIsOneOfTheTokenizersOwnTokens) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/neg/2.txt", "");
  auto recipe = text_recipe(folder);
  EXPECT_EQ(words_of(*make_texts(recipe), Split::train, 2), (Words{"xxbos"}));
  recipe["tokenizer"] = {{"type", "bpe"},
                         {"file", test::in_source("tests/text/tokenizer_files/gpt2.json")}};
  EXPECT_THAT(complaint_of_texts(recipe),
              HasSubstr("train/neg/2.txt: the tokenizer finds no token in it"));
}

TEST(TextFolder, ReadsAGiganticText) {
  const TemporaryFolder folder;
  write_reviews(folder);
  std::string text;
  while (text.size() < (8 << 20)) text += "good film ";
  folder.write("train/neg/2.txt", text);
  folder.write("train/neg/3.txt", std::string(8 << 20, 'x'));
  auto recipe = text_recipe(folder);
  recipe["max_length"] = 100;
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->length(Split::train, 2), 100);
  EXPECT_EQ(words_of(*data, Split::train, 3), (Words{"xxbos", "xxrep", "8388608", "x"}));
}

TEST(TextFolder, GivesAModelItsOwnVocabularyAgain) {
  const TemporaryFolder folder;
  write_reviews(folder);
  const auto recipe = text_recipe(folder);
  const auto before = make_texts(recipe);
  const auto ids = ids_of(*before, Split::valid, 1);
  for (int i = 0; i < 9; ++i) folder.write("train/neg/x" + std::to_string(i) + ".txt", "new words");
  DataContext again;
  again.fitted = before->state();
  const auto data = make_texts(recipe, again);
  EXPECT_EQ(data->size(Split::train), 13);
  EXPECT_EQ(ids_of(*data, Split::valid, 1), ids);
  EXPECT_EQ(data->state(), before->state());
  auto other = recipe;
  other["tokenizer"] = {{"type", "fastai"}, {"split", "spaces"}};
  EXPECT_THAT(complaint_of_texts(other, again),
              testing::StrEq(
                  "data.tokenizer: it gives other tokens than the one that the model was trained "
                  "with"));
}

auto files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

TEST(TextFolder, ReadsUnlabeledTextsForAModel) {
  const TemporaryFolder folder;
  write_reviews(folder);
  const auto recipe = text_recipe(folder);
  DataContext context;
  context.fitted = make_texts(recipe)->state();
  context.unlabeled = folder.write("new/a.txt", "a good film");
  const auto kept = files_in(folder / "cache");
  auto data = make_texts(recipe, context);
  ASSERT_EQ(data->size(Split::valid), 1);
  EXPECT_EQ(data->sample_name(Split::valid, 0), "a.txt");
  EXPECT_EQ(words_of(*data, Split::valid, 0), (Words{"xxbos", "a", "good", "film"}));
  context.unlabeled = folder / "valid";
  EXPECT_EQ(make_texts(recipe, context)->size(Split::valid), 2);
  EXPECT_EQ(files_in(folder / "cache"), kept) << "such texts are not kept";
}

json record_recipe(const TemporaryFolder& folder, const std::string& type,
                   const std::string& file) {
  return {{"type", type},
          {"file", file},
          {"cache", folder / "cache"},
          {"valid", {{"fraction", nullptr}, {"rows", {1}}}},
          {"vocabulary", {{"min_freq", 1}}}};
}

TEST(TextFolder, NamesAFolderThatCannotBeRead) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/neg/more/2.txt", "a long film");
  const test::Unreadable unreadable(folder / "train/neg/more");
  if (!unreadable.holds()) GTEST_SKIP() << "root cannot be another user here";
  EXPECT_EQ(complaint_of_texts(text_recipe(folder)),
            "cannot read folder '" + (folder / "train/neg") + "': Permission denied");
}

TEST(TextFolder, SaysWhichSplitHasNoTexts) {
  const TemporaryFolder folder;
  write_reviews(folder);
  for (const auto* name : {"neg", "pos"})
    std::filesystem::remove(folder / ("valid/" + std::string(name) + "/0.txt"));
  EXPECT_EQ(complaint_of_texts(text_recipe(folder)), "no texts in '" + (folder / "valid") + "'");
}

}  // namespace
}  // namespace ddptrain
