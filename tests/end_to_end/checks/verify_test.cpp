// `verify`: passes what is equal, finds faults that were planted, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "end_to_end/ranks/machines.h"
#include "end_to_end/tasks/split_runs.h"

namespace ddptrain::end_to_end {
namespace {

using Words = std::vector<std::string>;

/// Rows with the kind of numbers in the first column, and the last word of each.
std::map<std::string, std::string> verdicts(const std::string& out, const std::string& precision) {
  std::map<std::string, std::string> found;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("  " + precision + "  ");
    if (at == std::string::npos) continue;
    const auto what = line.substr(0, line.find_last_not_of(' ', at) + 1);
    auto verdict = line.substr(line.find_last_of(' ') + 1);
    // Rows of one and of several ranks have one name: the worse verdict counts.
    if (!found.contains(what) || verdict != "same") found[what] = verdict;
  }
  return found;
}

/// A table with dropout and an incomplete last batch, and a model whose batch norm can be left out:
/// 96 rows to train on, in batches of 20.
const std::string kVerified = R"(recipe: 1
name: small
model: {type: tabular, layers: [8], ps: [0.1], use_bn: false, bn_cont: false}
data:
  type: csv_table
  file: points.csv
  target: side
  valid: {fraction: 0.2}
  loader: {drop_last: false}
batch: {global: 20}
train: {duration: 24 steps, clip: {type: norm, max: 0.5}, ema: {decay: 0.9}}
metrics: [accuracy]
optimizer: {type: adam, lr: 1e-2}
eval: {batch: 7}
parallel: {device: cpu}
)";

class Verify : public testing::Test {
 protected:
  Verify() {
    write(folder_ / "points.csv", points(0, 120));
    write(folder_ / "small.yaml", kVerified);
    std::filesystem::create_directory(folder_ / "tmp");
  }

  std::map<std::string, std::string> variables(const std::string& fault) const {
    return {{"TMPDIR", folder_ / "tmp"}, {"DDPTRAIN_FAULT", fault}};
  }

  /// The program with the faults, of which none is there unless it is named.
  Ended verify(const Words& words, const std::string& fault = {}) const {
    Words all{"verify"};
    all.insert(all.end(), words.begin(), words.end());
    return Program(all, folder_.path(), variables(fault), test::build_folder() + "/ddptrain_faults")
        .wait();
  }

  void expect_nothing_left() const {
    EXPECT_TRUE(list(folder_ / "tmp").empty());
    EXPECT_FALSE(exists(folder_ / "runs"));
  }

  const Folder folder_;
};

// Five steps are an epoch, whose last one has 16 rows.
TEST_F(Verify, PassesWhatIsEqual) {
  auto words = Words{"verify", "small.yaml", "--steps", "5", "--devices", "2,4"};
  const auto ended = run(words, folder_.path(), variables(""));
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  for (const auto* precision : {"fp64", "fp32"}) {
    const auto found = verdicts(ended.out, precision);
    for (const auto& [what, verdict] : found) EXPECT_EQ(verdict, "same") << what;
    for (const auto* what :
         {"parallel: losses", "parallel: gradient norms", "parallel: weights",
          "parallel: averaged weights", "accumulate 2: weights", "eval: metrics", "resume: losses",
          "resume: optimizer state", "resume: position and state"})
      EXPECT_TRUE(found.contains(what)) << what << "\n" << ended.out;
  }
  for (const auto* line :
       {"check 1 of 8: parallel in fp64\n", "check 8 of 8 after ", ": resume in fp32\n"})
    EXPECT_THAT(ended.err, testing::HasSubstr(line));
  expect_nothing_left();
}

// Where ranks normalize their own rows, `none` has as many micro-batches; only running statistics
// have no counterpart.
TEST_F(Verify, SaysWhatBatchNormLeavesIncomparable) {
  const Words words{"small.yaml", "model.use_bn=true", "--steps", "2"};
  auto all = words;
  all.insert(all.begin(), "parallel");
  auto ended = verify(all);
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  auto found = verdicts(ended.out, "fp64");
  EXPECT_EQ(found.at("parallel: weights"), "same");
  EXPECT_EQ(found.at("parallel: buffers"), "comparable") << ended.out;
  EXPECT_THAT(
      ended.out,
      testing::HasSubstr("parallel: buffers of ranks 1, 2 is not comparable: each rank normalizes "
                         "its own part of a batch (the other rows compare it with as many "
                         "micro-batches on one rank); 'parallel.sync_bn=true' would make it so\n"));

  all.emplace_back("parallel.mode=ddp");
  all.emplace_back("parallel.sync_bn=true");
  ended = verify(all);
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  found = verdicts(ended.out, "fp64");
  EXPECT_EQ(found.at("parallel: buffers"), "same") << ended.out;

  all[0] = "accumulate";
  ended = verify(all);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(verdicts(ended.out, "fp64").at("accumulate"), "comparable") << ended.out;
}

/// A convolution whose bias a batch norm takes away again: its gradient is zero but for rounding.
const std::string kBiasBeforeNorm =
    "model={type: sequential, layers: [{type: conv, out: 6, bias: true}, batch_norm, relu, "
    "adaptive_avg_pool, flatten, {type: linear, out: auto}]}";

// Adam divides by the size of a gradient, and makes a whole step of what rounding leaves.
TEST_F(Verify, NamesGradientsThatAreNothingButRounding) {
  write(folder_ / "image.yaml", small_recipe());
  for (const auto* optimizer : {"{type: adam, lr: 0.05}", "{type: lion, lr: 0.01}"}) {
    auto all = variables("");
    all.merge(environment());
    const auto ended = run(
        {"verify", "parallel", "image.yaml", kBiasBeforeNorm, std::string("optimizer=") + optimizer,
         "parallel.mode=ddp", "parallel.sync_bn=true", "batch.global=24"},
        folder_.path(), all);
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_EQ(verdicts(ended.out, "fp32").at("parallel: weights"), "same");
    EXPECT_THAT(ended.out, testing::HasSubstr("the gradient of '0.bias' ("));
    EXPECT_THAT(ended.out, testing::HasSubstr(" is nothing but rounding errors, of which '"));
    EXPECT_THAT(ended.out,
                testing::HasSubstr("' makes whole steps; so each step was compared from the same "
                                   "weights, and the weights after steps with the same "
                                   "gradients\n"));
  }
  expect_nothing_left();
}

/// Batch norm over six rows, twice one after the other, of columns that hardly differ: in fp64,
/// too, a rounding error grows by five digits, and NAdam makes whole steps of what is left.
const std::string kIllConditioned = R"(recipe: 1
name: ill
model: {type: tabular, layers: [16, 8], use_bn: true, bn_cont: true, bn_final: true, lin_first: false, ps: [0], y_range: [0, 1000]}
data: {type: csv_table, file: houses/houses.csv, target: price, task: regression, valid: {fraction: 0.2}, loader: {drop_last: false}}
batch: {global: 12, accumulate: 2}
train: {duration: 8 steps, threads: 1, clip: {type: value, max: 0.01}}
seed: 25
loss: huber
optimizer: {type: nadam, lr: 0.03, lr_batch: 16}
schedule: {type: cyclic, min_lr: 1e-5, up: 2 steps}
parallel: {mode: ddp, device: cpu, sync_bn: true}
)";

TEST_F(Verify, AllowsForTheRoundingErrorsOfAModelButNotForAFault) {
  ASSERT_EQ(run({"data", "make", "table", "houses", "--rows", "200"}, folder_.path()).code, 0);
  write(folder_ / "ill.yaml", kIllConditioned);
  const Words words{"parallel", "ill.yaml"};
  const auto ended = verify(words);
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_EQ(verdicts(ended.out, "fp64")["parallel: gradients"], "same") << ended.out;
  EXPECT_EQ(verify(words, "gradient").code, 6);
  EXPECT_EQ(verify(words, "sample").code, 6);
}

/// Where one CPU was tried, a value before a ReLU was within rounding of zero in fp32: above it on
/// one rank, below it on two.
const std::string kAtAKink = R"(recipe: 1
name: kink
seed: 523
model: {type: unet, body: {type: xresnet18, widen: 0.25, stem: [4, 4, 8]}}
data:
  type: image_masks
  root: masks
  codes: codes.txt
  void: ["255"]
  valid: images/val
  transforms:
    train: [{type: resize, size: [32, 32]}, horizontal_flip, {type: normalize, preset: imagenet}]
    valid: [{type: resize, size: [32, 32]}, {type: normalize, preset: imagenet}]
  loader: {workers: 1, drop_last: false}
batch: {global: 8}
train: {duration: 8 steps, threads: 1, precision: fp32}
loss: {type: combined, losses: [cross_entropy, fastai_dice], weights: [1, 1]}
optimizer: {type: adam, lr: 0.03}
parallel: {mode: ddp, device: cpu, sync_bn: true}
)";

TEST_F(Verify, AllowsForAValueAtTheKinkOfARelu) {
  ASSERT_EQ(run({"data", "make", "masks", "masks", "--train", "24", "--val", "6", "--size", "32"},
                folder_.path())
                .code,
            0);
  write(folder_ / "kink.yaml", kAtAKink);
  const auto ended = verify({"parallel", "kink.yaml", "--steps", "1"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
}

// 20 rows on 3 ranks are no batch; 2 and 4 ranks are compared.
TEST_F(Verify, SaysWhatCannotBeSplit) {
  for (const std::string kind : {"", "parallel", "eval", "resume"}) {
    Words words{"small.yaml", "--devices", "3,2", "--steps", "2"};
    if (!kind.empty()) words.insert(words.begin(), kind);
    const auto ended = verify(words);
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    for (const std::string each : {"parallel", "eval", "resume"}) {
      if (!kind.empty() && each != kind) continue;
      const auto why = each + " of ranks " + (each == "resume" ? "3" : "1, 3") +
                       " is not comparable: batch.global 20 cannot be split over 3 ranks";
      EXPECT_THAT(ended.out, testing::HasSubstr(why));
    }
  }
  const auto open = verify({"eval", "small.yaml", "--devices", "3", "parallel.mode=ddp"});
  EXPECT_EQ(open.code, 0) << open.out << open.err;
}

TEST_F(Verify, ResumesReplicasToo) {
  const auto ended = verify({"resume", "small.yaml", "--steps", "2", "parallel.mode=dp"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_EQ(verdicts(ended.out, "fp64").at("resume: weights"), "same");
  for (const auto* ranks : {"  1  ", "  2  ", "  2 (dp)  "})
    EXPECT_THAT(ended.out, testing::HasSubstr(ranks)) << ranks << "\n" << ended.out;
}

// Two ranks with a device each against one; --devices counts devices there.
TEST_F(Verify, PassesOnDevices) {
  auto all = variables("");
  all.merge(simulating());
  for (const auto* kind : {"parallel", "resume"}) {
    const auto ended = run({"verify", kind, "small.yaml", "--steps", "2", "parallel.mode=ddp",
                            "parallel.device=simulated"},
                           folder_.path(), all);
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_EQ(verdicts(ended.out, "fp64").at(std::string(kind) + ": weights"), "same");
  }
  expect_nothing_left();
}

// A SIGKILL takes the chance to remove anything: the next verification does.
TEST_F(Verify, RemovesWhatAKilledOneLeft) {
  Program program({"verify", "small.yaml", "--steps", "100000", "train.duration=400000 steps"},
                  folder_.path(), variables(""));
  const auto begun = [&] {  // a folder with its lock, by which it is known as ours
    const auto scratch = list(folder_ / "tmp");
    return !scratch.empty() && !list(folder_ / "tmp/" + scratch[0]).empty();
  };
  while (program.running() && !begun()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  program.signal(SIGKILL);
  program.wait();
  while (!processes_with(folder_ / "tmp").empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(list(folder_ / "tmp").empty());
  const auto ended = verify({"eval", "small.yaml", "--steps", "1"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_nothing_left();
}

struct Planted {
  std::string fault;
  std::string row;    // that shows it first
  std::string place;  // which an error names
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.fault; }

class VerifyFault : public Verify, public testing::WithParamInterface<Planted> {};

TEST_P(VerifyFault, IsFoundAndNamed) {
  const auto& [fault, row, place] = GetParam();
  const auto kind = row.substr(0, row.find(':'));
  const Words words{kind, "small.yaml", "--steps", "3"};
  const auto sound = verify(words);
  EXPECT_EQ(sound.code, 0) << sound.out << sound.err;
  const auto ended = verify(words, fault);
  EXPECT_EQ(ended.code, 6) << ended.out << ended.err;
  EXPECT_EQ(verdicts(ended.out, "fp64").at(row), "DIFFERENT") << ended.out;
  EXPECT_THAT(ended.err, testing::HasSubstr("error: " + row + " (fp64, "));
  EXPECT_THAT(ended.err, testing::HasSubstr(place));
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, VerifyFault,
    testing::Values(Planted{"gradient", "parallel: gradient norms", "differ first at step 1, "},
                    Planted{"sample", "parallel: losses", "differ first at step 2, "},
                    Planted{"optimizer", "resume: optimizer state", ".weight.step' after step 4"}),
    [](const auto& given) { return given.param.fault; });

// Whichever way training ended, what it had written is gone before the program is.
TEST_F(Verify, InterruptedLeavesNothingBehind) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program({"verify", "small.yaml", "--steps", "100000", "train.duration=400000 steps"},
                    folder_.path(), variables(""));
    const auto begun = [&] {
      for (const auto& scratch : list(folder_ / "tmp"))
        if (exists(folder_ / ("tmp/" + scratch + "/runs/1/events.jsonl"))) return true;
      return false;
    };
    while (program.running() && !begun())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    program.signal(signal);
    const auto ended = program.wait();
    EXPECT_EQ(ended.code, 128 + signal);
    EXPECT_THAT(ended.err, testing::HasSubstr(std::string("asked to stop (") +
                                              (signal == SIGINT ? "SIGINT" : "SIGTERM") +
                                              "): nothing was compared\n"));
    expect_nothing_left();
    EXPECT_TRUE(processes_with(folder_.path()).empty());
  }
}

TEST_F(Verify, RefusesWhatItCannotDo) {
  const auto refused = [&](const Words& words, int code, const std::string& message) {
    const auto ended = verify(words);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, testing::HasSubstr(message));
    EXPECT_EQ(ended.out, "");
  };
  refused(
      {"paralel", "small.yaml"}, 2,
      "'paralel' is not 'parallel', 'accumulate', 'eval' or 'resume'; did you mean 'parallel'?\n");
  refused({"parallel"}, 2, "error: no recipe: ddptrain verify parallel RECIPE\n");
  refused({"small.yaml", "--devices", "1,2"}, 2,
          "error: --devices: '1' is not a number of devices to compare with one, 2 to 1024; "
          "'--devices 2,4' compares with two and with four\n");
  refused({"small.yaml", "--steps", "none"}, 2,
          "error: --steps: 'none' is not a number of steps, 1 to 1000000\n");
  refused({"small.yaml", "data.file=nowhere.csv"}, 3,
          "/nowhere.csv' is not there; put the data there, write where they are, or name an "
          "archive under data.source\n");
  expect_nothing_left();
}

// A text, a table and images: dropout, masks of lengths, mixed precision's own bound, sync_bn, dp.
// `make verify-shipped` does the same with every shipped recipe.
TEST(VerifyShipped, PassesRecipesOfSeveralFamilies) {
  const Folder folder;
  const auto ended =
      Program({test::in_source("scripts/verify-shipped"), "--program", test::program(), "--steps",
               "2", "recipes/imdb-bag.yaml", "recipes/imdb-transformer.yaml", "recipes/adult.yaml",
               "recipes/biwi-tiny.yaml", "configs/dp.yaml"},
              folder.path(), {{"TMPDIR", folder.path()}}, "/usr/bin/python3")
          .wait();
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_EQ(times(ended.out, " exit 0 "), 5) << ended.out;
}

// A recipe's own errors are those of the run.
TEST_F(Verify, EndsAsARunWouldThatFails) {
  const auto ended = verify({"small.yaml", "optimizer.lr=1e300", "train.clip=null"});
  EXPECT_EQ(ended.code, 5) << ended.out << ended.err;
  EXPECT_THAT(ended.err,
              testing::HasSubstr(
                  "error: the loss is not finite at step 2 (sum nan); a smaller optimizer.lr or "
                  "train.clip may help; 'policy.on_non_finite: skip' leaves such steps out\n"));
  expect_nothing_left();
}

}  // namespace
}  // namespace ddptrain::end_to_end
