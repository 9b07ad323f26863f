// Every shipped recipe and config trains, is evaluated, saves and resumes on the simulated device
// as on the CPU, alone and in two ranks: scripts/gpu_check/shipped.json says with which data.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "end_to_end/checkpoints/weights_of_runs.h"
#include "end_to_end/program.h"
#include "end_to_end/shipped_data.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ShippedRun {
  std::string file, mode;
  json how;
};

void PrintTo(const ShippedRun& run, std::ostream* out) { *out << run.file << " " << run.mode; }

/// Recipes that train the network of another in the same way, whose run on two ranks shows theirs:
/// imagenette-5 with its pools, imagenette-80 with its mixture, imagenette with its images.
const std::set<std::string>& trained_alike() {
  static const std::set<std::string> all{"recipes/imagenette-20.yaml",
                                         "recipes/imagenette-200.yaml", "recipes/imagewoof.yaml"};
  return all;
}

std::vector<ShippedRun> shipped_runs() {
  std::vector<ShippedRun> runs;
  for (const auto& [file, how] : shipped_table().at("recipes").items()) {
    if (how.contains("mode")) {
      runs.push_back({file, how.at("mode"), how});
      continue;
    }
    runs.push_back({file, "none", how});
    if (!trained_alike().contains(file)) runs.push_back({file, "ddp", how});
  }
  return runs;
}

bool fine_tunes(const std::vector<std::string>& overrides) {
  return std::any_of(overrides.begin(), overrides.end(),
                     [](const std::string& text) { return text.starts_with("train.fine_tune."); });
}

/// Two steps, with a checkpoint after each.
std::vector<std::string> shipped_words(const ShippedRun& run, const std::string& device) {
  const int global = run.how.at("batch"), accumulate = run.how.value("accumulate", 1),
            devices = run.mode == "none" ? 1 : 2;
  std::vector<std::string> words{
      "run",
      test::in_source(run.file),
      "name=shipped",
      "batch.global=" + std::to_string(global),
      "batch.micro=" + std::to_string(global / accumulate / devices),
      "batch.accumulate=" + std::to_string(accumulate),
      "train.precision=fp64",
      "train.threads=1",
      "parallel.mode=" + run.mode,
      "parallel.devices=" + std::to_string(devices),
      "parallel.device=" + device,
      "data.loader.workers=1",
      "eval.batch=7",
      device == "cpu" ? "checkpoint.every=2 steps" : "checkpoint.every=1 step",
      "checkpoint.keep_last=9",
      "log.tensorboard=false",
      "output.dir=" + device};
  const auto overrides = shipped_overrides(run.how);
  words.insert(words.end(), overrides.begin(), overrides.end());
  if (!fine_tunes(overrides)) words.push_back("train.duration=2 steps");
  return words;
}

std::vector<std::string> checkpoints_of(const std::string& run) {
  std::vector<std::string> all;
  for (const auto& name : list(run + "/checkpoints"))
    if (name.starts_with("step-")) all.push_back(run + "/checkpoints/" + name);
  return all;
}

/// Names and numbers of the validation split in the last row.
std::map<std::string, double> scores_of(const std::string& run) {
  std::istringstream lines(read(run + "/metrics.csv"));
  std::string names, line, last;
  for (std::getline(lines, names); std::getline(lines, line);) last = line;
  std::map<std::string, double> scores;
  std::istringstream name_cells(names), cells(last);
  for (std::string name, cell;
       std::getline(name_cells, name, ',') && std::getline(cells, cell, ',');)
    if (name.starts_with("valid/")) scores[name] = std::stod(cell);
  return scores;
}

class ShippedOnADevice : public testing::TestWithParam<ShippedRun> {
 protected:
  void start(const std::vector<std::string>& words) {
    auto variables = environment();
    variables["DDPTRAIN_SIMULATED_DEVICE"] = test::build_folder() + "/libddptrain_simulated.so";
    const auto ended = Program(words, folder_.path(), variables).wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  std::string run_on(const std::string& device) const {
    return folder_ / (device + "/shipped/001");
  }

  double most(const std::string& tensor) const {
    const auto apart = GetParam().how.value("apart", json(0.0));
    if (apart.is_number()) return apart;
    double bound = apart.at("");
    for (const auto& [ending, each] : apart.items())
      if (!ending.empty() && tensor.ends_with(ending)) bound = each;
    return bound;
  }

  void expect_the_weights_and_scores_of_the_cpu() {
    const auto near = weights_of(checkpoints_of(run_on("cpu")).back());
    const auto far = weights_of(checkpoints_of(run_on("simulated")).back());
    ASSERT_EQ(near.size(), far.size());
    for (const auto& [name, values] : near)
      EXPECT_LE(difference(far.at(name), values), most(name)) << name;
    const auto expected = scores_of(run_on("cpu")), scores = scores_of(run_on("simulated"));
    EXPECT_FALSE(expected.empty());
    for (const auto& [name, value] : expected)
      if (std::isnan(value))  // a class that no pixel is of or was taken for
        EXPECT_TRUE(std::isnan(scores.at(name))) << name;
      else
        EXPECT_NEAR(scores.at(name), value, 1e-9 * (1 + std::abs(value))) << name;
  }

  Folder folder_;
};

// What a GPU is to compute, the CPU does: a tensor left behind on the host would be an error. The
// run that lost its last checkpoint resumes from the one before and ends where it would have.
TEST_P(ShippedOnADevice, TrainsAsOnTheCpu) {
  for (const auto* device : {"cpu", "simulated"}) start(shipped_words(GetParam(), device));
  if (HasFatalFailure()) return;
  expect_the_weights_and_scores_of_the_cpu();
  const auto saved = checkpoints_of(run_on("simulated"));
  ASSERT_GE(saved.size(), 2U);
  fs::remove_all(saved.back());
  start({"resume", run_on("simulated")});
  ASSERT_EQ(checkpoints_of(run_on("simulated")), saved);
  expect_the_weights_and_scores_of_the_cpu();
}

std::string name_of(const testing::TestParamInfo<ShippedRun>& given) {
  std::string name = given.param.file + "_" + given.param.mode;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recipes, ShippedOnADevice, testing::ValuesIn(shipped_runs()), name_of);

/// Alone or as the config says; of those that train the same network in the same way the first.
std::vector<ShippedRun> runs_of_steps() {
  const std::set<std::string> alike{"recipes/imagenette-5.yaml", "configs/two-nodes.yaml"};
  // A step of streams begins with the states that the one before has left, and waits for it
  // (train/step/device_step.cpp).
  const std::set<std::string> streams{"recipes/ulmfit-general.yaml", "recipes/ulmfit-imdb-lm.yaml"};
  auto runs = shipped_runs();
  std::erase_if(runs, [&](const ShippedRun& run) {
    return alike.contains(run.file) || trained_alike().contains(run.file) ||
           streams.contains(run.file) || (run.mode == "ddp" && run.file.starts_with("recipes/"));
  });
  return runs;
}

/// What each process noted (tests/simulated/counting.cpp).
std::map<std::string, std::vector<std::string>> notes_of(const std::string& file) {
  std::map<std::string, std::vector<std::string>> notes;
  std::istringstream lines(read(file));
  for (std::string process, what; lines >> process && std::getline(lines >> std::ws, what);)
    notes[process].push_back(what);
  return notes;
}

class ShippedSteps : public ShippedOnADevice {
 protected:
  static constexpr int kSteps = 8;

  /// Writes the notes again.
  void train() {
    std::filesystem::remove(folder_ / "notes");
    auto words = shipped_words(GetParam(), "simulated");
    for (const auto& word : {"eval.every=99 epochs", "checkpoint.every=99 epochs",
                             "train.fine_tune=null", "train.duration=8 steps"})
      words.emplace_back(word);
    auto variables = environment();
    variables["DDPTRAIN_SIMULATED_DEVICE"] = test::build_folder() + "/libddptrain_simulated.so";
    variables["DDPTRAIN_SIMULATED_LOG"] = folder_ / "notes";
    const auto ended = Program(words, folder_.path(), variables).wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
  }

  /// Of all processes, in the fifth step and the sixth, which copy `each` tensors.
  int waits_when_warm(int each) const {
    int waits = 0;
    for (const auto& [process, notes] : notes_of(folder_ / "notes")) {
      int copies = 0;
      for (const auto& note : notes) {
        if (note.starts_with("copies from pinned memory")) ++copies;
        if (copies > 4 * each && copies <= 6 * each) waits += note.starts_with("waits");
      }
    }
    return waits;
  }

  /// In the steps of a process.
  static int tensors(const ShippedRun& run) {
    const int replicas = run.mode == "dp" ? 2 : 1;
    return run.how.value("tensors", 2) * run.how.value("accumulate", 1) * replicas;
  }
};

// Two batches are copied ahead: between the copies of the fifth step, which begin while the third
// is made, and those of the sixth there is nothing else, and no wait. Where a busy machine held the
// loader up, a step waits for its batch: one run of three will do.
TEST_P(ShippedSteps, OnlyCopyBatchesOnceTheyAreWarm) {
  const int each = tensors(GetParam());
  for (int tries = 3; tries > 0; --tries) {
    train();
    if (HasFatalFailure()) return;
    if (waits_when_warm(each) == 0) break;
  }
  int trained = 0, waits_of_all = 0;
  for (const auto& [process, notes] : notes_of(folder_ / "notes")) {
    int copies = 0;
    for (const auto& note : notes) {
      if (note.starts_with("copies from pinned memory")) ++copies;
      waits_of_all += note.starts_with("waits");
      if (copies <= 4 * each || copies > 6 * each) continue;
      EXPECT_FALSE(note.starts_with("copies from pageable")) << note;
    }
    EXPECT_GE(copies, kSteps * each);
    ++trained;
  }
  EXPECT_EQ(waits_when_warm(each), 0) << "in two steps or three";
  EXPECT_EQ(trained, GetParam().mode == "ddp" ? 2 : 1) << "processes that noted what they did";
  EXPECT_GT(waits_of_all, 0) << "waits are noted: those at the end of the run";
}

INSTANTIATE_TEST_SUITE_P(Recipes, ShippedSteps, testing::ValuesIn(runs_of_steps()), name_of);

/// Those of different networks that are captured, and a config of two ranks.
std::vector<ShippedRun> runs_with_graphs() {
  const std::set<std::string> tried{"recipes/cifar10.yaml none", "recipes/imagenette.yaml none",
                                    "recipes/mnist.yaml none", "recipes/adult.yaml none",
                                    "configs/multi-gpu.yaml ddp"};
  auto runs = shipped_runs();
  std::erase_if(runs,
                [&](const ShippedRun& run) { return !tried.contains(run.file + " " + run.mode); });
  return runs;
}

class ShippedGraphs : public ShippedOnADevice {
 protected:
  /// Eight steps; returns what each process noted.
  std::map<std::string, std::vector<std::string>> train(
      const std::string& graph, const std::vector<std::string>& overrides = {}) {
    auto words = shipped_words(GetParam(), "simulated");
    for (const auto& word : {"eval.every=99 epochs", "checkpoint.every=99 epochs",
                             "train.fine_tune=null", "train.duration=8 steps"})
      words.emplace_back(word);
    words.push_back("train.graph=" + graph);
    words.insert(words.end(), overrides.begin(), overrides.end());
    words.push_back("output.dir=graph-" + graph);
    auto variables = environment();
    variables["DDPTRAIN_SIMULATED_DEVICE"] = test::build_folder() + "/libddptrain_simulated.so";
    variables["DDPTRAIN_SIMULATED_LOG"] = folder_ / ("notes-" + graph);
    const auto ended = Program(words, folder_.path(), variables).wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    return notes_of(folder_ / ("notes-" + graph));
  }

  void expect_the_bits_of_eager_steps(int expected,
                                      const std::vector<std::string>& overrides = {}) {
    const auto notes = train("true", overrides);
    int repeating = 0;
    for (const auto& [process, lines] : notes) {
      const auto replays = std::count(lines.begin(), lines.end(), "replays of a graph");
      if (replays == 0) continue;
      EXPECT_EQ(replays, expected);
      ++repeating;
    }
    EXPECT_EQ(repeating, GetParam().mode == "ddp" ? 2 : 1);
    for (const auto& [process, lines] : train("false", overrides))
      EXPECT_EQ(std::count(lines.begin(), lines.end(), "replays of a graph"), 0);
    const auto graph = weights_of(checkpoints_of(run_on("graph-true")).back());
    EXPECT_EQ(graph, weights_of(checkpoints_of(run_on("graph-false")).back()));
  }
};

// Three steps warm up; of each other one the passes are replayed, and what follows them.
TEST_P(ShippedGraphs, GiveTheBitsOfEagerSteps) { expect_the_bits_of_eager_steps(10); }

INSTANTIATE_TEST_SUITE_P(Recipes, ShippedGraphs, testing::ValuesIn(runs_with_graphs()), name_of);

/// What makes one graph of a step of some recipes: single precision, and no schedule that cycles
/// the momentum.
const std::map<std::string, std::vector<std::string>>& whole_steps() {
  static const std::string sgd = "optimizer={type: sgd, lr: 0.1, momentum: 0.9}";
  static const std::map<std::string, std::vector<std::string>> all{
      {"recipes/adult.yaml", {"optimizer={type: adamw}"}},
      {"recipes/cifar10.yaml",
       {sgd, "model={type: xresnet50, widen: 0.25, stem: [8, 8, 16], num_classes: auto}"}},
      {"recipes/mnist.yaml", {sgd}}};
  return all;
}

std::vector<ShippedRun> runs_of_whole_steps() {
  auto runs = runs_with_graphs();
  std::erase_if(runs, [](const ShippedRun& run) { return !whole_steps().contains(run.file); });
  return runs;
}

class ShippedWholeSteps : public ShippedGraphs {};

TEST_P(ShippedWholeSteps, GiveTheBitsOfEagerSteps) {
  auto overrides = whole_steps().at(GetParam().file);
  overrides.emplace_back("train.precision=fp32");
  overrides.emplace_back("schedule={type: cosine}");
  expect_the_bits_of_eager_steps(5, overrides);
}

INSTANTIATE_TEST_SUITE_P(Recipes, ShippedWholeSteps, testing::ValuesIn(runs_of_whole_steps()),
                         name_of);

TEST(ShippedOnDevices, AreAllRecipesAndConfigs) {
  std::set<std::string> shipped, tried;
  for (const std::string folder : {"recipes", "configs"})
    for (const auto& name : list(test::in_source(folder)))
      if (name.ends_with(".yaml")) shipped.insert(folder + "/" + name);
  for (const auto& run : shipped_runs()) tried.insert(run.file);
  EXPECT_EQ(tried, shipped) << "each has a row in scripts/gpu_check/shipped.json";
}

}  // namespace
}  // namespace ddptrain::end_to_end
