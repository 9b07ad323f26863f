// What `init` says of data that it cannot draft a recipe for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "cli/cli_output.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

class InitOfData : public testing::Test {
 protected:
  std::string refusal(const std::string& path, const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> words{"init", path};
    words.insert(words.end(), flags.begin(), flags.end());
    const auto answer = test::cli_output(words);
    EXPECT_NE(answer.code, 0) << answer.out;
    return answer.err;
  }

  TemporaryFolder folder_;
  test::Inside inside_{folder_.path()};
};

TEST_F(InitOfData, NeedsTextToLearnFrom) {
  folder_.write("texts/a.txt", std::string(500, 'a'));
  EXPECT_EQ(refusal("texts"),
            "error: texts in 'texts': 1 text, about 100 words; a language model needs 1,000 words "
            "at least, and many more to write well: add texts of the kind. To tell classes apart, "
            "put the texts of each into a folder of its own, or give a CSV file with the columns "
            "text and label\n");
}

TEST_F(InitOfData, NeedsASecondTextToScoreWith) {
  folder_.write("texts/a.txt", std::string(50'000, 'a'));
  EXPECT_EQ(refusal("texts"),
            "error: texts in 'texts': 1 text, about 10,000 words; scores need a second one that is "
            "not learned from: cut it into files, as 'split -n l/20 --additional-suffix=.txt FILE "
            "FOLDER/' does\n");
  EXPECT_THAT(refusal("texts/a.txt"),
              testing::HasSubstr("; 'mkdir texts && split -n l/20 --additional-suffix=.txt FILE "
                                 "texts/' makes a folder of a text\n"));
}

TEST_F(InitOfData, NeedsTheTokensOfBothSplits) {
  folder_.write("tokens/train.tokens", "no tokens");
  EXPECT_EQ(refusal("tokens"),
            "error: 'tokens/train.tokens' needs the tokens of other texts for validation, "
            "'tokens/valid.tokens'; 'ddptrain data tokens' writes both\n");
}

TEST_F(InitOfData, HasNoLabelForALanguageModel) {
  folder_.write("t.csv", "text,label\na,b\n");
  EXPECT_EQ(refusal("t.csv", {"--task", "language_model", "--target", "label"}),
            "error: --task language_model reads texts alone: it excludes --target and --table\n");
}

TEST_F(InitOfData, NeedsClassesOfImages) {
  const auto image = read_text(test::in_source("tests/golden/images/a_rgb.png"));
  folder_.write("flat/x.png", image);
  folder_.write("flat/y.png", image);
  EXPECT_EQ(refusal("flat"),
            "error: 2 images in 'flat', and nothing says what they show; put those of each class "
            "into a folder of its own, or give a CSV file with the columns path and label\n");
}

TEST_F(InitOfData, NeedsAnImageThatCanBeRead) {
  folder_.write("images/a/1.png", "no image");
  folder_.write("images/b/1.png", "no image");
  EXPECT_EQ(refusal("images"),
            "error: no image could be read: 'images/./a/1.png' is no image; JPEG, PNG and WebP are "
            "read\n");
}

TEST_F(InitOfData, NeedsAnObjectWithATextInALine) {
  folder_.write("list.jsonl", "[1]\n");
  EXPECT_EQ(refusal("list.jsonl"),
            "error: list.jsonl:1: not an object, {\"text\": ..., \"label\": ...}, in a line\n");
  folder_.write("numbers.jsonl", "{\"number\": 1}\n");
  EXPECT_EQ(refusal("numbers.jsonl"), "error: numbers.jsonl:1: no text in it\n");
}

TEST_F(InitOfData, NeedsAnUnpackedFile) {
  folder_.write("t.csv.gz", "\x1f\x8b");
  EXPECT_EQ(
      refusal("t.csv.gz"),
      "error: 't.csv.gz' is no data that ddptrain reads; it takes a folder of images or texts, "
      "a .csv, .tsv, .jsonl or .parquet file; unpack it first\n");
}

TEST_F(InitOfData, NeedsATargetThatIsAColumn) {
  folder_.write("t.csv", "path,label\na,b\nc,d\n");
  EXPECT_EQ(refusal("t.csv"),
            "error: t.csv: no column looks like a target; name one with --target: path, label\n");
  EXPECT_EQ(refusal("t.csv", {"--target", "qqq"}),
            "error: --target: there is no column 'qqq'; there are path, label\n");
}

TEST_F(InitOfData, NeedsTheImagesOfAList) {
  std::string list = "path,label\n";
  for (const std::string i : {"1", "2", "3", "4"})
    list += "none/" + i + ".png,a\nnone/b" + i + ".png,b\n";
  folder_.write("t.csv", list);
  EXPECT_EQ(
      refusal("t.csv"),
      "error: t.csv: 'none/1.png' (column 'path') is neither next to the file nor in a folder "
      "next to it\n");
}

}  // namespace
}  // namespace ddptrain
