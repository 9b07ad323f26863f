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

TEST_F(InitOfData, NeedsClassesOfTexts) {
  folder_.write("texts/a.txt", "one");
  EXPECT_EQ(refusal("texts"),
            "error: texts in 'texts', and nothing says their classes; put those of each class into "
            "a folder of its own, or give a CSV file with the columns text and label\n");
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

TEST_F(InitOfData, NeedsAnObjectWithATextAndALabelInALine) {
  folder_.write("list.jsonl", "[1]\n");
  EXPECT_EQ(refusal("list.jsonl"),
            "error: list.jsonl:1: not an object, {\"text\": ..., \"label\": ...}, in a line\n");
  folder_.write("text.jsonl", "{\"text\": \"a long text\"}\n");
  EXPECT_EQ(refusal("text.jsonl"), "error: text.jsonl:1: no text with a label in it\n");
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
