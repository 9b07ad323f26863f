// report.html: at the end of a run, and by the verb.
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Report, IsWrittenAtTheEndOfARunAndByTheVerb) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto trained = run({"run", "small.yaml"}, folder.path(), environment());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto at_end = read(folder / "runs/small/001/report.html");
  EXPECT_TRUE(has(at_end, "<h2>Curves</h2>"));
  EXPECT_TRUE(has(at_end, "<h2>Samples</h2>"));
  EXPECT_TRUE(has(at_end, "<h2>Calibration</h2>"));
  EXPECT_TRUE(has(at_end, "<div class=\"tile\"><b>done</b><span>state</span></div>"));

  const auto again = run({"report", "runs/small/001", "--output", "r.html"}, folder.path());
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read(folder / "r.html"), at_end);

  const auto nowhere = run({"report", "runs/small/001", "--output", "no/r.html"}, folder.path());
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_EQ(nowhere.err, "error: cannot write 'no/r.html': no such file or directory\n");
  const auto is_folder = run({"report", "runs/small/001", "--output", "runs"}, folder.path());
  EXPECT_EQ(is_folder.code, 2);
  EXPECT_EQ(run({"report", "runs/small/002"}, folder.path()).code, 3);
}

TEST(Report, ShowsTheBeginningOfLongTextsInWholeCharacters) {
  const Folder folder;
  for (const std::string split : {"train/", "test/"})
    for (const std::string label : {"neg", "pos"})
      for (int i = 0; i < 4; ++i) {
        std::string text = i % 2 == 0 ? "x" : "";  // even and odd places of the characters
        for (int word = 0; word < 200; ++word) text += word % 2 == 0 ? "été " : label + "é ";
        write(folder / "texts/" + split + label + "/" + std::to_string(i) + ".txt", text);
      }
  const auto ended = run({"run", test::in_source("recipes/imdb-bag.yaml"), "data.root=texts",
                          "data.vocabulary.min_freq=1", "model.dim=4", "model.buckets=50",
                          "~expect", "train.duration=2 steps", "batch.global=4", "name=texts"},
                         folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto samples = read(folder / "runs/texts/001/samples.json");
  EXPECT_TRUE(has(samples, "été"));
  EXPECT_TRUE(has(samples, "…"));
  EXPECT_FALSE(has(samples, "\ufffd"));
}

TEST(Report, DoesNotChangeWhatARunComputes) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml"}, folder.path(), environment()).code, 0);
  const auto without =
      run({"run", "small.yaml", "output.report=false"}, folder.path(), environment());
  ASSERT_EQ(without.code, 0) << without.err;
  EXPECT_FALSE(fs::exists(folder / "runs/small/002/report.html"));
  EXPECT_FALSE(fs::exists(folder / "runs/small/002/samples.json"));
  EXPECT_EQ(read(folder / "runs/small/001/metrics.csv"),
            read(folder / "runs/small/002/metrics.csv"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
