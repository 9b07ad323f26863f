#include "runs/run_history.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

std::string step(int number, double seconds) {
  return R"({"event":"step","time":"2026-01-01T00:00:)" +
         std::to_string(number % 60 + 100).substr(1) + R"(Z","step":)" + std::to_string(number) +
         R"(,"train/loss":1.5,"seconds":)" + std::to_string(seconds) + "}\n";
}

TEST(RunHistory, TakesStepsThatAResumedRunMadeAgainOnce) {
  const auto history = read_history(
      R"({"event":"begin","step":0,"total_steps":30})"
      "\n" +
      step(10, 1) + step(20, 2) + R"({"event":"resume","step":10,"total_steps":30})" + "\n" +
      step(20, 2) + R"({"event":"evaluation","step":20,"valid/loss":null,"valid/f1":0.5})" + "\n" +
      "{\"event\":\"st");
  ASSERT_EQ(history.steps.size(), 1u);
  EXPECT_EQ(history.steps[0].name, "train/loss");
  EXPECT_EQ(history.steps[0].points.x, (std::vector<double>{10, 20}));
  EXPECT_EQ(history.step, 20);
  EXPECT_EQ(history.resumed, std::vector<std::int64_t>{10});
  ASSERT_EQ(history.last.size(), 2u);
  EXPECT_EQ(value_named(history.last, "valid/f1"), 0.5);
  EXPECT_EQ(history.torn, 1);
}

TEST(RunHistory, TakesTextsThatAResumedRunWroteAgainOnce) {
  const auto texts = [](int step, const std::string& text) {
    return R"({"event":"texts","step":)" + std::to_string(step) +
           R"(,"texts":[{"weights":"valid","prompt":"a","text":")" + text + "\"}]}\n";
  };
  const auto history = read_history(texts(10, "b") + texts(20, "c") + texts(30, "d") +
                                    "{\"event\":\"resume\",\"step\":20}\n" + texts(20, "e"));
  ASSERT_EQ(history.texts.size(), 2u);
  EXPECT_EQ(history.texts[0].texts.at(0).text, "b");
  EXPECT_EQ(history.texts[1].step, 20);
  EXPECT_EQ(history.texts[1].texts.at(0).text, "e");
}

TEST(RunHistory, SumsTheSecondsOfPhasesOverTheStartsOfARun) {
  const auto history =
      read_history(R"({"event":"end","step":10,"phase_seconds":{"train":3.5,"saving":1}})"
                   "\n"
                   R"({"event":"resume","step":10})"
                   "\n"
                   R"({"event":"end","step":20,"phase_seconds":{"train":1.5,"loader":0.25}})"
                   "\n");
  EXPECT_EQ(history.phases, (NamedValues{{"train", 5}, {"saving", 1}, {"loader", 0.25}}));
}

TEST(RunProgress, GoesOnAtThePaceOfTheLastTwoLogPeriods) {
  const TemporaryFolder folder;
  folder.write("events.jsonl", R"({"event":"begin","step":0,"total_steps":100})"
                               "\n" +
                                   step(10, 10) + step(20, 12) + step(40, 16));
  const auto progress = read_progress(folder.path(), true);
  EXPECT_EQ(progress.step, 40);
  EXPECT_EQ(progress.total_steps, 100);
  EXPECT_DOUBLE_EQ(progress.seconds_left, 60 * 4.0 / 20);
  EXPECT_EQ(progress.time, 1767225640);  // date -d 2026-01-01T00:00:40Z +%s
}

TEST(RunProgress, KnowsTheLengthThatARunWasGivenLast) {
  const TemporaryFolder folder;
  folder.write("events.jsonl", R"({"event":"begin","step":0,"total_steps":4000})"
                               "\n" +
                                   step(10, 10) +
                                   R"({"event":"resume","step":10,"total_steps":30})" + "\n" +
                                   step(20, 12));
  EXPECT_EQ(read_progress(folder.path(), false).total_steps, 30);
  EXPECT_EQ(read_progress(folder.path(), false).step, 20);
}

TEST(RunProgress, ReadsTheEndsOfALongFileOnly) {
  const TemporaryFolder folder;
  std::string text = R"({"event":"begin","step":0,"total_steps":9000})"
                     "\n";
  for (int i = 1; i <= 5000; ++i) text += step(i, i);
  folder.write("events.jsonl", text + "{\"event\":\"step\",\"ste");
  const auto progress = read_progress(folder.path(), true);
  EXPECT_EQ(progress.step, 5000);
  EXPECT_EQ(progress.total_steps, 9000);
  EXPECT_DOUBLE_EQ(progress.seconds_left, 4000);
}

TEST(RunProgress, OfNoFileIsNone) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_progress(folder.path(), true).total_steps, 0);
  folder.write("events.jsonl", "\n[1]\nnull\n{\"step\":\"x\"}\n");
  EXPECT_EQ(read_progress(folder.path(), true).step, 0);
}

}  // namespace
}  // namespace ddptrain
