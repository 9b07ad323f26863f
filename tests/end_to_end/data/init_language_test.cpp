// `init DATA` of texts without labels: from there to a text that the model writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Some sixty words, others for each number.
std::string story(int i) {
  const std::vector<std::string> who{"a cat", "the dog", "one bird"}, what{"sees", "likes"};
  std::string text;
  for (int k = 0; k < 12; ++k)
    text += who[static_cast<std::size_t>((i + k) % 3)] + " " +
            what[static_cast<std::size_t>((i * k) % 2)] + " the house. ";
  return text;
}

constexpr int kStories = 40;

void write_stories(const std::string& folder) {
  for (int i = 0; i < kStories; ++i) write(folder + "/" + std::to_string(i) + ".txt", story(i));
}

/// Types what a new user would, with a run of two steps. Returns the output of init.
std::string try_out(const Folder& folder, const std::string& data,
                    const std::vector<std::string>& flags = {}) {
  std::vector<std::string> words{"init", data, "mine.yaml", "--force"};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto output = run(words, folder.path());
  EXPECT_EQ(output.code, 0) << output.err;
  const auto good = run({"validate", "--level", "step", "--strict", "mine.yaml"}, folder.path());
  EXPECT_EQ(good.code, 0) << good.err << good.out << read(folder / "mine.yaml");
  const auto ended = run({"run", "mine.yaml", "train.duration=2 steps"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto text = run({"generate", "runs/mine/latest", "a cat", "--tokens", "3"}, folder.path());
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.err, HasSubstr("wrote "));
  return output.out;
}

TEST(InitOfALanguageModel, TextsInAFolder) {
  const Folder folder;
  write_stories(folder / "texts");
  const auto output = try_out(folder, "texts");
  EXPECT_THAT(output, HasSubstr("40 texts, "));
  EXPECT_THAT(output, HasSubstr("task: a language model, which learns to continue such texts; "
                                "texts of each class in a folder of its own make a classifier\n"));
  EXPECT_THAT(output, HasSubstr("20 % of the texts are held out"));
  EXPECT_THAT(output, HasSubstr("ddptrain generate runs/mine/latest '"));
  EXPECT_THAT(read(folder / "mine.yaml"), HasSubstr("task: language_model"));
}

TEST(InitOfALanguageModel, TextsInTwoFoldersAndAFileBesideThem) {
  const Folder folder;
  write_stories(folder / "mine/train/old");
  write_stories(folder / "mine/test");
  write(folder / "mine/train/readme.txt", "about these");
  const auto output = try_out(folder, "mine");
  EXPECT_THAT(output, HasSubstr("validation split: folder test"));
  EXPECT_THAT(output, HasSubstr("left out: readme.txt"));
}

TEST(InitOfALanguageModel, TextsInClassFoldersWhereTheUserSaysSo) {
  const Folder folder;
  write_stories(folder / "texts/good");
  write_stories(folder / "texts/bad");
  const auto classes = run({"init", "texts", "-"}, folder.path());
  EXPECT_THAT(classes.out, Not(HasSubstr("language_model")));
  const auto hint = run({"init", "texts", "classes.yaml"}, folder.path());
  EXPECT_THAT(hint.out, HasSubstr("task: classes; --task language_model learns to continue"));
  EXPECT_THAT(try_out(folder, "texts", {"--task", "language_model"}), HasSubstr("80 texts, "));
}

TEST(InitOfALanguageModel, TextsInRowsAndInLines) {
  const Folder folder;
  std::string csv = "id,body\n", lines, numbered;
  for (int i = 0; i < kStories; ++i) {
    csv += std::to_string(i) + "," + story(i) + std::to_string(i) + "\n";
    lines += "{\"text\": \"" + story(i) + "\"}\n";
    numbered += "{\"body\": \"" + story(i) + "\", \"id\": \"n" + std::to_string(i) + "\"}\n";
  }
  write(folder / "rows.csv", csv);
  write(folder / "lines.jsonl", lines);
  write(folder / "numbered.jsonl", numbered);
  EXPECT_THAT(try_out(folder, "rows.csv"), HasSubstr("texts: column 'body'"));
  EXPECT_THAT(try_out(folder, "lines.jsonl"), HasSubstr("texts: key 'text'"));
  EXPECT_THAT(try_out(folder, "numbered.jsonl"), HasSubstr("'id' differs in most lines"));
}

TEST(InitOfALanguageModel, TokensThatWereWritten) {
  const Folder folder;
  write_stories(folder / "texts");
  ASSERT_EQ(run({"init", "texts"}, folder.path()).code, 0);
  ASSERT_EQ(run({"data", "tokens", "texts.yaml", "tokens"}, folder.path()).code, 0);
  EXPECT_THAT(try_out(folder, "tokens"), HasSubstr(" tokens of 32 texts, a vocabulary of "));
  EXPECT_THAT(run({"init", "tokens/train.tokens", "-"}, folder.path()).out,
              HasSubstr("train: tokens/train.tokens\n  valid: tokens/valid.tokens\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
