// What `plan` says is what `run` does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "cli/plot.h"
#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

const std::string kPlanned = test::in_source("configs/quickstart.yaml");

TEST(Plan, CountsTheStepsAndTheBytesOfTheRun) {
  const Folder folder;
  const std::vector<std::string> recipe{kPlanned, "data.root=" + shapes(),
                                        "train.duration=1 epoch"};
  auto words = recipe;
  words.insert(words.begin(), "plan");
  const auto planned = Program(words, folder.path()).wait();
  ASSERT_EQ(planned.code, 0) << planned.err;
  words[0] = "run";
  words.push_back("~expect");
  const auto ran = Program(words, folder.path()).wait();
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(planned.out, HasSubstr("global 64 = micro 16 x accumulate 2 x 2 devices"));
  const auto line = planned.out.find("\nsteps");
  ASSERT_NE(line, std::string::npos) << planned.out;
  const auto steps = std::to_string(std::stoi(planned.out.substr(line + 6)));
  const auto saved = "step-" + std::string(8 - steps.size(), '0') + steps;
  EXPECT_TRUE(exists(folder / ("runs/quickstart/001/checkpoints/" + saved))) << planned.out;
  EXPECT_FALSE(exists(folder / "runs/quickstart/002"));
}

TEST(Plan, TellsSeveralNumbersOfDevices) {
  const Folder folder;
  const auto planned =
      Program({"plan", kPlanned, "--devices", "1,2,4", "--samples", "1000"}, folder.path()).wait();
  ASSERT_EQ(planned.code, 0) << planned.err;
  for (const std::string batch :
       {"micro 32 x accumulate 2 x 1 device", "micro 16 x accumulate 2 x 2 devices",
        "micro 8 x accumulate 2 x 4 devices"})
    EXPECT_THAT(planned.out, HasSubstr(batch));
  EXPECT_THAT(
      planned.out,
      HasSubstr("\nsteps          210 (13,440 samples), 15 an epoch\n"));  // 1000 samples in whole
                                                                           // batches of 64
}

TEST(Plan, ForecastsOtherMachinesAndThisOne) {
  const Folder folder;
  const auto plan = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"plan", kPlanned, "data.root=" + shapes(), "~expect"});
    const auto planned = Program(words, folder.path()).wait();
    EXPECT_EQ(planned.code, 0) << planned.err;
    return planned.out;
  };
  const auto other = plan({"--devices", "2,8", "--machine", "h100x8", "--explain"});
  EXPECT_THAT(other, HasSubstr("\nforecast for h100x8"));
  EXPECT_THAT(other, HasSubstr("NVIDIA H100 datasheet"));
  const auto here = plan({"--devices", "1,2,4", "--machine", "here"});
  EXPECT_THAT(here, HasSubstr("from steps measured on 1 and 2 of them"));
  EXPECT_FALSE(exists(folder / "runs"));
}

TEST(Plan, ShowsWhatIsOffloaded) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto planned = [&](const std::string& offload) {
    const auto ended = run({"plan", "small.yaml", "parallel.mode=fsdp", "parallel.devices=2",
                            "parallel.device=cuda", "parallel.shard.offload=" + offload},
                           folder.path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  EXPECT_THAT(
      planned("optimizer"),
      testing::ContainsRegex("offload +of each rank [0-9.]+ .iB of the optimizer's state in "
                             "the host's memory; on its device [0-9.]+ .iB at most, with "
                             "buffers in place of that state"));
  EXPECT_THAT(planned("none"), testing::Not(HasSubstr("offload")));
}

TEST(Plan, RefusesABatchThatDevicesCannotShare) {
  const Folder folder;
  const auto refused =
      Program({"plan", kPlanned, "--devices", "5", "--samples", "1000"}, folder.path()).wait();
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("cannot be split over 5 devices"));
}

/// The rates of the steps that a run logged, one evaluation a step, as `plan` draws them.
std::string logged_curve(const std::string& metrics) {
  Plot curve{{}, {}, "step", "learning rate", false, 10};
  const auto lines = split(trim(metrics), '\n');
  const auto names = split(lines[0], ',');
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto cells = split(lines[i], ',');
    curve.x.push_back(parse_number(cells.at(column("step"))).value() - 1);
    curve.y.push_back(parse_number(cells.at(column("train/lr"))).value());
  }
  return plot(curve);
}

void expect_the_planned_rates(const std::vector<std::string>& overrides, std::size_t steps) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  std::vector<std::string> words{
      "plan",           "small.yaml", kSmallModel, "eval.every=1 step", "optimizer.lr_batch=64",
      "train.threads=1"};
  words.insert(words.end(), overrides.begin(), overrides.end());
  const auto planned = run(words, folder.path(), environment());
  ASSERT_EQ(planned.code, 0) << planned.err;
  words[0] = "run";
  const auto ran = run(words, folder.path(), environment());
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto metrics = read(folder / "runs/small/001/metrics.csv");
  ASSERT_EQ(split(trim(metrics), '\n').size(), steps + 1) << metrics;
  EXPECT_THAT(planned.out, HasSubstr(logged_curve(metrics)));
}

TEST(Plan, DrawsTheRatesOfEachStage) {
  expect_the_planned_rates({"~train.duration",
                            "train.stages=[{duration: 3 steps, lr: 0.04}, {duration: 1 epoch, "
                            "schedule: {type: one_cycle}}, {duration: 2 steps, lr: {from: 0.001, "
                            "to: 0.02}, schedule: linear}]"},
                           12);
}

TEST(Plan, DrawsTheRateThatIsHeldForAnAverage) {
  expect_the_planned_rates({"schedule=linear", "train.duration=10 steps",
                            "train.swa={start: 4 steps, every: 2 steps, lr: 0.02, over: 3 steps}"},
                           10);
}

TEST(Plan, FetchesNothing) {
  const Folder folder;
  const auto refused =
      Program({"plan", test::in_source("recipes/imagenette.yaml"), "data.root=none"}, folder.path())
          .wait();
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("error: the data are not there; 'ddptrain data get RECIPE' "
                                     "fetches them, or --samples N plans without\n"));
  EXPECT_FALSE(exists(folder / "none"));
}

// 120 samples in batches of 17 leave one, and resnet18 ends in a map of one pixel.
TEST(Plan, AndLevelDataRefuseABatchOfOneRowUnderBatchNorm) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto expect_refusal = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"batch.global=17", "data.loader.drop_last=false"});
    const auto ended = run(words, folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("120 training samples an epoch in batches of 17 leave a batch "
                                     "of one row"));
    EXPECT_THAT(ended.err, HasSubstr("'data.loader.drop_last: true'"));
  };
  expect_refusal({"plan", "small.yaml"});
  expect_refusal({"validate", "small.yaml", "--level", "data"});
  expect_refusal({"run", "small.yaml"});
  const auto dropped = run({"validate", "small.yaml", "--level", "data", "batch.global=17"},
                           folder.path(), environment());
  EXPECT_EQ(dropped.code, 0) << dropped.err;
}

TEST(Plan, AndARunSayWhereCheckpointsDoNotFitOnTheDisk) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> more{"train.duration=10000000 steps", "checkpoint.every=1 step",
                                      "checkpoint.keep_last=10000000"};
  std::vector<std::string> words{"plan", "small.yaml"};
  words.insert(words.end(), more.begin(), more.end());
  const auto planned = run(words, folder.path(), environment());
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out,
              testing::ContainsRegex("\ndisk +a checkpoint [0-9.]+ MiB, up to 10000001 at once "
                                     "[0-9.]+ TiB; free [0-9.]+ [KMGT]iB, too little\n"));
  words[0] = "run";
  const auto refused = run(words, folder.path(), environment());
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("no space for the run's checkpoints in"));
}

/// Two hundred texts of words that are drawn from two thousand.
std::string many_words() {
  std::string csv = "text\n";
  std::uint64_t drawn = 1;
  for (int text = 0; text < 200; ++text) {
    for (int word = 0; word < 80; ++word) {
      drawn = drawn * 6364136223846793005U + 1442695040888963407U;
      csv += "w" + std::to_string((drawn >> 33) % 2000) + " ";
    }
    csv += "\n";
  }
  return csv;
}

constexpr const char* kWordRecipe = R"(recipe: 1
name: small
model: {type: gpt2, n_layer: 3, n_head: 2, n_embd: 64, n_positions: 64}
data:
  type: text_csv
  file: words.csv
  task: language_model
  valid: {fraction: 0.1}
  vocabulary: {min_freq: 1}
  cache: cache
  blocks: {layout: shuffled, length: 64}
batch: {global: 16}
train: {duration: 3 steps, threads: 1}
optimizer: {type: adamw, lr: 1e-3}
parallel: {device: cpu}
)";

/// The bytes behind the first `words`, as in "memory   12.3 MiB at most".
double planned_bytes(const std::string& plan, const std::string& words = "\nmemory ") {
  double number = 0;
  char unit = 0;
  const auto at = plan.find(words);
  if (at == std::string::npos ||
      std::sscanf(plan.c_str() + at + words.size(), " %lf %c", &number, &unit) != 2)
    return 0;
  return number * (unit == 'G' ? 1 << 30 : unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1);
}

/// The most bytes that tensors had in a step that was not the first.
double traced_bytes(const std::string& trace) {
  double most = 0;
  for (const auto& row : split(trim(trace), '\n')) {
    const auto cells = split(row, ',');
    if (cells.size() != 5 || parse_integer(cells[1]).value_or(0) < 1) continue;
    for (const std::string phase : {"transfer", "forward", "backward", "optimizer"})
      if (cells[2] == phase) most = std::max(most, parse_number(cells[4]).value());
  }
  return most;
}

class PlannedMemory : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(PlannedMemory, IsWhatAStepTakes) {
  const Folder folder;
  write(folder / "words.csv", many_words());
  write(folder / "words.yaml", kWordRecipe);
  write(folder / "images.yaml", small_recipe());
  const bool images = GetParam().empty();
  std::vector<std::string> words{"plan", images ? "images.yaml" : "words.yaml"};
  words.insert(words.end(), GetParam().begin(), GetParam().end());
  if (images) words.emplace_back(kSmallModel);
  const auto planned = run(words, folder.path(), environment());
  ASSERT_EQ(planned.code, 0) << planned.err;
  words[0] = "run";
  words.insert(words.end(), {"--trace", "memory"});
  const auto ran = run(words, folder.path(), environment());
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto traced = traced_bytes(read(folder / "runs/small/001/profile/memory_rank0.csv"));
  EXPECT_NEAR(planned_bytes(planned.out), traced, 0.1 * traced) << planned.out;
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, PlannedMemory,
    testing::Values(
        std::vector<std::string>{}, std::vector<std::string>{"train.recompute=none"},
        std::vector<std::string>{"train.recompute=blocks"},
        std::vector<std::string>{"batch.accumulate=2"},
        std::vector<std::string>{"loss={type: cross_entropy, label_smoothing: 0.1}"},
        std::vector<std::string>{"data.blocks={layout: packed, length: 64, long: split}"},
        std::vector<std::string>{"model={type: awd_lstm_lm, emb_sz: 64, n_hid: 96, n_layers: 2}",
                                 "data.blocks={layout: streams, length: 32}"}));

struct PlannedRanks {
  int ranks = 2;
  std::string precision = "fp32";
};

class PlannedModes : public testing::TestWithParam<PlannedRanks> {};

TEST_P(PlannedModes, AreWhatARankTakesInEach) {
  const Folder folder;
  write(folder / "words.csv", many_words());
  write(folder / "words.yaml", kWordRecipe);
  const std::vector<std::string> words{"words.yaml",
                                       "model={type: gpt2, n_layer: 6, n_head: 2, n_embd: 128, "
                                       "n_positions: 64}",
                                       "data.blocks.length=16",
                                       "train.precision=" + GetParam().precision,
                                       "parallel.devices=" + std::to_string(GetParam().ranks)};
  const auto with = [&](const std::string& verb, const std::vector<std::string>& more) {
    auto all = words;
    all.insert(all.begin(), verb);
    all.insert(all.end(), more.begin(), more.end());
    const auto ended = run(all, folder.path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  const auto planned = with("plan", {"parallel.mode=ddp"});
  for (const std::string mode : {"ddp", "zero1", "zero2", "fsdp"}) {
    with("run", {"parallel.mode=" + mode, "--trace", "memory", "output.dir=" + mode});
    for (int rank = 0; rank < GetParam().ranks; ++rank) {
      const auto traced = traced_bytes(
          read(folder / (mode + "/small/001/profile/memory_rank" + std::to_string(rank) + ".csv")));
      EXPECT_NEAR(planned_bytes(planned, (mode == "ddp" ? ": " : ", ") + mode + " "), traced,
                  0.1 * traced)
          << mode << planned;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, PlannedModes,
                         testing::Values(PlannedRanks{2}, PlannedRanks{4}, PlannedRanks{2, "bf16"}),
                         [](const auto& test) {
                           return std::to_string(test.param.ranks) + "_" + test.param.precision;
                         });

TEST(Plan, SaysWhatRecomputedBlocksWouldNeed) {
  const Folder folder;
  write(folder / "words.csv", many_words());
  write(folder / "words.yaml", kWordRecipe);
  const auto planned = run({"plan", "words.yaml"}, folder.path());
  const auto recomputed = run({"plan", "words.yaml", "train.recompute=blocks"}, folder.path());
  const auto line = recomputed.out.substr(recomputed.out.find("\nmemory ") + 1);
  const std::string most(trim(line.substr(6, line.find(" at most") - 6)));
  EXPECT_THAT(planned.out, HasSubstr("\nrecompute      'train.recompute: blocks' would need " +
                                     most + " at most, activations "));
  EXPECT_THAT(planned.out, HasSubstr(", logits "));
  EXPECT_THAT(recomputed.out, testing::Not(HasSubstr("\nrecompute ")));
}

}  // namespace
}  // namespace ddptrain::end_to_end
