// Samples that are scored in addition to the validation split, and a test split that is scored
// once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "end_to_end/tasks/split_runs.h"

namespace ddptrain::end_to_end {
namespace {

using Words = std::vector<std::string>;

struct Placed {
  const char* mode;
  const char* devices;
};

class SplitsOn : public Splits, public testing::WithParamInterface<Placed> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, SplitsOn,
                         testing::Values(Placed{"none", "1"}, Placed{"dp", "2"}, Placed{"ddp", "2"},
                                         Placed{"ddp", "3"}),
                         [](const auto& placed) {
                           return std::string(placed.param.mode) + placed.param.devices;
                         });

// A split that names the samples of the validation split of `data` gets the same numbers, in one
// process, to the last digit.
TEST_P(SplitsOn, AreScoredAsTheValidationSplitOfTheSameDataIs) {
  const auto ended = start({std::string("parallel.mode=") + GetParam().mode,
                            std::string("parallel.devices=") + GetParam().devices});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto run_folder = folder_ / "runs/small/001";
  const auto row = last_row(run_folder);
  const Words single{"parallel.mode=none", "parallel.devices=1"};
  const auto held_as = [&](const Words& data) {
    auto words = single;
    words.insert(words.end(), data.begin(), data.end());
    return printed_scores(eval(words).out);
  };
  const auto half = held_as({"data.valid={fraction: 0.5, seed: 3}"});
  EXPECT_EQ(row.at("half/loss"), half.at("valid/loss"));
  EXPECT_EQ(row.at("half/accuracy"), half.at("valid/accuracy"));
  const auto others = held_as({"data.file=others.csv", "data.valid={fraction: 0.6}"});
  EXPECT_EQ(row.at("others/loss"), others.at("valid/loss"));
  const auto test = held_as({"data.file=test.csv", "data.valid={fraction: 0.9}"});
  EXPECT_EQ(in_record(run_folder, "test/loss"), test.at("valid/loss"));
  EXPECT_EQ(in_record(run_folder, "test/accuracy"), test.at("valid/accuracy"));
  EXPECT_EQ(row.at("test/loss"), in_record(run_folder, "test/loss"));
  EXPECT_EQ(row.at("test/accuracy"), in_record(run_folder, "test/accuracy"));
  EXPECT_EQ(times(read(run_folder + "/events.jsonl"), "{\"event\":\"test\""), 1);
  for (const std::string name : {"others", "test"}) {
    auto words = single;
    words.insert(words.end(), {"--split", name});
    const auto alone = printed_scores(eval(words).out);
    EXPECT_EQ(alone.at(name + "/loss"), (name == "test" ? test : others).at("valid/loss"));
    EXPECT_EQ(alone.size(), 2U);
  }
}

TEST_F(Splits, OfAnAverageHaveItsScoresToo) {
  const auto ended = start({"train.ema={decay: 0.8}"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto row = last_row(folder_ / "runs/small/001");
  EXPECT_EQ(row.at("others_ema/loss"),
            printed_scores(eval({"--split", "others"}).out).at("others_ema/loss"));
  EXPECT_NE(row.at("others_ema/loss"), row.at("others/loss"));
  EXPECT_EQ(in_record(folder_ / "runs/small/001", "test_ema/loss"),
            printed_scores(eval({"--split", "test"}).out).at("test_ema/loss"));
}

// The learning rate that moves away from the best weights makes the first evaluation the best.
TEST_F(Splits, TestTheBestWeightsWhereTheyAreKept) {
  const auto ended =
      start({"optimizer={type: sgd, lr: 4}", "checkpoint.keep_best={metric: others/loss}",
             "checkpoint.keep_last=1", "policy.on_non_finite=skip"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto run_folder = folder_ / "runs/small/001";
  const auto best =
      std::filesystem::read_symlink(run_folder + "/checkpoints/best").filename().string();
  ASSERT_NE(best, "step-00000024") << ended.err;
  const auto step = std::to_string(std::stoi(best.substr(5)));
  EXPECT_EQ(in_record(run_folder, "test/loss"),
            printed_scores(eval({"--split", "test", "--checkpoint", "best"}).out).at("test/loss"));
  EXPECT_NE(in_record(run_folder, "test/loss"),
            printed_scores(eval({"--split", "test"}).out).at("test/loss"));
  for (const auto& row : rows_of(run_folder))
    EXPECT_EQ(row.at("test/loss"),
              row.at("step") == step ? in_record(run_folder, "test/loss") : std::string());
  EXPECT_THAT(ended.out, testing::HasSubstr("best weights (step " + step + ")"));
  EXPECT_THAT(read(run_folder + "/events.jsonl"), testing::HasSubstr("\"weights_step\":" + step));
}

class CutSplits : public Splits, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Signals, CutSplits, testing::Values(SIGTERM, SIGKILL));

// The rates are constant, so a run that was to be longer is the same until its end.
TEST_P(CutSplits, AreScoredByTheResumedRunAsByOneThatWasNot) {
  const Words words{"run",
                    "small.yaml",
                    "train.duration=1000000 steps",
                    "eval.every=40 steps",
                    "checkpoint.every=20 steps",
                    "parallel.mode=ddp",
                    "parallel.devices=2"};
  Program program(words, folder_.path(), environment());
  while (program.running() && reached_step(program.err()) < 50)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  program.signal(GetParam());
  const auto ended = program.wait();
  ASSERT_EQ(ended.code, 128 + GetParam()) << ended.err;
  const auto cut = folder_ / "runs/small/001", whole = folder_ / "runs/small/002";
  EXPECT_EQ(in_record(cut, "test/loss"), "");
  EXPECT_THAT(read(cut + "/events.jsonl"), testing::Not(testing::HasSubstr("{\"event\":\"test\"")));
  const auto saved = std::stoi(list(cut + "/checkpoints").back().substr(5));
  const auto length = "train.duration=" + std::to_string(saved + 30) + " steps";
  const auto resumed = run({"resume", cut, length}, folder_.path(), environment());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto other = start({words[3], words[4], words[5], words[6], length});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(read(cut + "/metrics.csv"), read(whole + "/metrics.csv"));
  EXPECT_NE(in_record(cut, "test/loss"), "");
  EXPECT_EQ(in_record(cut, "test/loss"), in_record(whole, "test/loss"));
  EXPECT_EQ(times(read(cut + "/events.jsonl"), "{\"event\":\"test\""), 1);
}

TEST_F(Splits, AreTestedAgainByACompleteRunThatTrainsOn) {
  ASSERT_EQ(start({}).code, 0);
  const auto run_folder = folder_ / "runs/small/001";
  const auto first = in_record(run_folder, "test/loss");
  EXPECT_EQ(run({"resume", run_folder}, folder_.path()).code, 0);
  EXPECT_EQ(times(read(run_folder + "/events.jsonl"), "{\"event\":\"test\""), 1);
  const auto on = run({"resume", run_folder, "train.duration=30 steps"}, folder_.path());
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(times(read(run_folder + "/events.jsonl"), "{\"event\":\"test\""), 2);
  EXPECT_NE(in_record(run_folder, "test/loss"), first);
  EXPECT_EQ(in_record(run_folder, "test/loss"),
            printed_scores(eval({"--split", "test"}).out).at("test/loss"));
}

TEST_F(Splits, AreExpectedOfTheTestSplitToo) {
  const auto ended = start({"expect={test/accuracy: {min: 1}, others/loss: {max: 100}}"});
  EXPECT_EQ(ended.code, 6) << ended.err;
  EXPECT_THAT(ended.err,
              testing::ContainsRegex("\nerror: expect: test/accuracy is 0\\.[0-9]+ \\(last "
                                     "weights, step 24\\), at least 1 was expected\n"));
  EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("expect: others/loss")));
  EXPECT_EQ(start({"expect={test/accuracy: {max: 1}}"}).code, 0);
}

TEST_F(Splits, OfImagesAreScoredThroughTheirOwnTransforms) {
  write(folder_ / "images.yaml",
        small_recipe(
            "metrics: [accuracy]\n"
            "eval:\n"
            "  every: 4 steps\n"
            "  batch: 7\n"
            "  splits:\n"
            "    small: {transforms: {valid: [{type: resize, size: 16}, {type: resize, size: "
            "32}, {type: normalize, preset: imagenet}]}}\n"
            "  test: {valid: train}\n"));
  const auto ended = start(
      {kSmallModel, "train.threads=1", "parallel.mode=ddp", "parallel.devices=2"}, "images.yaml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto row = last_row(folder_ / "runs/small/001");
  const Words single{"parallel.mode=none", "parallel.devices=1"};
  auto words = single;
  words.emplace_back(
      "data.transforms.valid=[{type: resize, size: 16}, {type: resize, size: 32}, {type: "
      "normalize, preset: imagenet}]");
  EXPECT_EQ(row.at("small/loss"), printed_scores(eval(words).out).at("valid/loss"));
  EXPECT_NE(row.at("small/loss"), row.at("valid/loss"));
  words = single;
  words.emplace_back("data.valid=train");
  EXPECT_EQ(in_record(folder_ / "runs/small/001", "test/loss"),
            printed_scores(eval(words).out).at("valid/loss"));
}

const std::string kSplitTexts = R"(recipe: 1
name: small
model: {type: bag_of_embeddings, dim: 6}
data:
  type: text_csv
  file: texts.csv
  text: [text]
  label: label
  cache: cache
  valid: {fraction: 0.25}
batch: {global: 8}
train: {duration: 8 steps, threads: 1}
metrics: [accuracy]
optimizer: {type: adam, lr: 1e-2}
eval: {every: 4 steps, batch: 3, splits: {others: {file: others.csv, valid: {fraction: 0.5}}}, test: {file: others.csv, valid: {fraction: 0.5, seed: 1}}}
parallel: {device: cpu}
log: {every: 1 step, tensorboard: false}
)";

/// Words from `first` on, of which training texts have none where it is large.
std::string texts(int first, int rows) {
  std::string csv = "text,label\n";
  for (int i = 0; i < rows; ++i) {
    for (int word = 0; word <= i % 5; ++word)
      csv += "w" + std::to_string(first + (i * 7 + word * 3) % 40) + " ";
    csv += i % 3 == 0 ? "good,pos\n" : "bad,neg\n";
  }
  return csv;
}

// The vocabulary is that of the training texts: half of the words of the others are unknown.
TEST_F(Splits, OfTextsAreReadWithTheVocabularyOfTheTrainingTexts) {
  write(folder_ / "texts.csv", texts(0, 60));
  write(folder_ / "others.csv", texts(20, 30));
  write(folder_ / "texts.yaml", kSplitTexts);
  const auto ended = start({"parallel.mode=ddp", "parallel.devices=2"}, "texts.yaml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto row = last_row(folder_ / "runs/small/001");
  const auto others = printed_scores(eval({"parallel.mode=none", "parallel.devices=1",
                                           "data.file=others.csv", "data.valid={fraction: 0.5}"})
                                         .out);
  EXPECT_EQ(row.at("others/loss"), others.at("valid/loss"));
  EXPECT_EQ(row.at("others/accuracy"), others.at("valid/accuracy"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
