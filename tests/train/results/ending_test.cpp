#include "train/results/ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/files.h"
#include "base/quoting.h"
#include "base/text.h"
#include "support/numbers.h"
#include "support/temporary_folder.h"
#include "train/results/watched_metric.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WatchedMetric, IsTheOneThatIsKeptElseTheFirstWithADirection) {
  Recipe recipe;
  recipe.metrics = std::vector{Choice<Metric>("confusion_matrix"), Choice<Metric>("error_rate")};
  EXPECT_EQ(watched_metric(recipe)->name, "valid/error_rate");
  EXPECT_EQ(watched_metric(recipe)->mode, BestMode::min);
  recipe.checkpoint.keep_best = KeepBestSpec{"accuracy", BestMode::max};
  EXPECT_EQ(watched_metric(recipe)->name, "valid/accuracy");
  recipe.checkpoint.keep_best.reset();
  recipe.metrics = {};
  EXPECT_EQ(watched_metric(recipe)->name, "valid/loss");
}

/// A run of 40 steps whose checkpoints of steps 20 and 40 are kept.
class EndOfARun : public testing::Test {
 protected:
  void SetUp() override {
    end_.reason = "done";
    end_.seconds = 63;
    end_.step = end_.total_steps = end_.evaluated = 40;
    end_.epoch = 4;
    end_.last = {{"valid/loss", 0.7}, {"valid/accuracy", 0.6}};
    end_.best = {
        "valid/accuracy", BestMode::max, 20, {{"valid/loss", 0.5}, {"valid/accuracy", 0.75}}};
    end_.folder = folder_.path() + "/runs/it's/001";
    end_.input = folder_.path() + "/a b.png";
    for (const auto* name : {"step-00000020", "step-00000040"})
      make_folders(end_.folder + "/checkpoints/" + name);
    run_ = "'" + folder_.path() + "/runs/it'\\''s/001";
  }
  void keep_best() {
    std::filesystem::create_directory_symlink("step-00000020", end_.folder + "/checkpoints/best");
  }

  const TemporaryFolder folder_;
  RunResult end_;
  std::string run_;
};

TEST_F(EndOfARun, PutsBestAndLastNextToEachOther) {
  EXPECT_EQ(headline(end_), "done in 1 min 3 s: step 40, epoch 4");
  EXPECT_THAT(results(end_, 0), ElementsAre("                best (step 20)  last (step 40)",
                                            "valid/loss                 0.5             0.7",
                                            "valid/accuracy            0.75             0.6",
                                            "best by valid/accuracy (larger is better)"));
}

TEST_F(EndOfARun, ShowsOneColumnWhereTheLastIsTheBest) {
  end_.best->step = 40;
  EXPECT_EQ(results(end_, 0).at(0), "                best and last (step 40)");
  end_.best.reset();
  EXPECT_EQ(results(end_, 0).at(0), "                last (step 40)");
  end_.last.clear();
  EXPECT_THAT(results(end_, 0), IsEmpty());
}

TEST_F(EndOfARun, ShowsTheTestSplitUnderTheWeightsThatItWasScoredWith) {
  end_.test = Evaluation{{{"test/loss", 0.5}, {"test/accuracy", 0.625}}, {}, 0};
  end_.weights = {"best weights", 20};
  auto lines = results(end_, 0);
  ASSERT_EQ(lines.size(), 7U);
  lines.erase(lines.begin(), lines.begin() + 4);
  EXPECT_THAT(lines, ElementsAre("               best weights (step 20)",
                                 "test/loss                         0.5",
                                 "test/accuracy                   0.625"));
  end_.weights = {"last weights", 40};
  EXPECT_EQ(results(end_, 0).at(4), "               last weights (step 40)");
}

TEST_F(EndOfARun, SaysWhichWeightsAreItsResult) {
  end_.weights = {"best weights", 20};
  EXPECT_EQ(results(end_, 0).at(3),
            "best by valid/accuracy (larger is better); result: best weights, step 20");
  end_.reason = "interrupted";
  EXPECT_EQ(results(end_, 0).at(3), "best by valid/accuracy (larger is better)");
}

TEST_F(EndOfARun, SaysItsSeedAndItsSamples) {
  end_.seed = 7;
  end_.training_samples = 480;
  end_.validation_samples = 1;
  EXPECT_EQ(results(end_, 0).at(4), "seed 7; 480 training samples, 1 validation sample");
}

TEST_F(EndOfARun, CountsEarlierStartsToo) {
  end_.earlier.seconds = 12.5;
  EXPECT_EQ(headline(end_), "done in 1 min 3 s (1 min 16 s with earlier starts): step 40, epoch 4");
}

TEST_F(EndOfARun, CutsNoNumberAtAnyWidth) {
  end_.weights = {"best weights", 20};
  end_.last[0].second = -1.0771234e-05;
  end_.test = Evaluation{{{"test/loss", 107712.34}}, {}, 0};
  const auto wide = join(results(end_, 0), "\n");
  for (std::size_t columns = 20; columns <= 120; ++columns)
    for (const auto& line : results(end_, columns)) {
      EXPECT_LE(line.size(), columns) << line;
      EXPECT_THAT(test::broken_numbers(line, wide), IsEmpty()) << columns << ": " << line;
    }
}

TEST_F(EndOfARun, NamesTheBestWeightsAndThreeCommandsForThem) {
  keep_best();
  const auto call = "  " + called_as() + " ";
  EXPECT_THAT(
      what_next(end_),
      ElementsAre("best weights: " + run_ + "/checkpoints/best' (step 20)",
                  "last weights: " + run_ + "/checkpoints/step-00000040'",
                  "next:", call + "report " + run_ + "'",
                  call + "predict " + run_ + "' '" + folder_.path() + "/a b.png' --checkpoint best",
                  call + "export " + run_ + "' model.safetensors --checkpoint best"));
}

TEST_F(EndOfARun, NamesAFolderForPredictionsThatAreFiles) {
  keep_best();
  end_.predicts_files = true;
  EXPECT_EQ(what_next(end_).at(4), "  " + called_as() + " predict " + run_ + "' '" +
                                       folder_.path() +
                                       "/a b.png' --checkpoint best --output predicted");
}

TEST_F(EndOfARun, NamesTheReport) {
  end_.report = true;
  EXPECT_EQ(what_next(end_).at(2), "report: " + run_ + "/report.html'");
}

TEST_F(EndOfARun, SaysWhereTheBestWeightsWereNotKept) {
  std::filesystem::remove_all(end_.folder + "/checkpoints/step-00000020");
  EXPECT_EQ(what_next(end_).at(0), "best weights: not kept; 'checkpoint.keep_best' keeps them");
  EXPECT_EQ(what_next(end_).at(3), "  " + called_as() + " report " + run_ + "'");
}

TEST_F(EndOfARun, ThatWasInterruptedNamesTheCommandToResume) {
  end_.reason = "interrupted";
  end_.step = 25;
  end_.epoch = 2.5;
  EXPECT_EQ(headline(end_), "interrupted after 1 min 3 s at step 25 of 40, epoch 2.5");
  EXPECT_EQ(what_next(end_).back(), "  " + called_as() + " resume " + run_ + "'");
}

TEST_F(EndOfARun, ThatStoppedEarlySaysWhy) {
  end_.reason = "stopped: early_stopping: no better for 3 evaluations";
  end_.step = 30;
  EXPECT_EQ(headline(end_),
            "stopped after 1 min 3 s at step 30 of 40, epoch 4: early_stopping: no better for 3 "
            "evaluations");
}

TEST_F(EndOfARun, ShortOfWhatWasExpectedSaysSo) {
  end_.code = Exit::expect;
  EXPECT_EQ(headline(end_), "done in 1 min 3 s: step 40, epoch 4; short of what 'expect' asks");
}

TEST(TypedPath, IsRelativeBelowTheCurrentFolder) {
  const auto here = std::filesystem::current_path().string();
  EXPECT_EQ(typed_path(here + "/runs/x/001"), "runs/x/001");
  EXPECT_EQ(typed_path("/nowhere/x"), "/nowhere/x");
}

}  // namespace
}  // namespace ddptrain
