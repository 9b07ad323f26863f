// Runs of a module that Python scripted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/files/digest.h"
#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;

std::string module_file(const std::string& name) {
  return test::in_source("tests/golden/torchscript/" + name);
}

class TorchScriptRuns : public testing::Test {
 protected:
  void train_on(const std::string& file) {
    fs::copy(module_file(file), folder_ / "model.pt");
    auto recipe = small_recipe();
    const auto begin = recipe.find("\nmodel:") + 1;
    const auto end = recipe.find("\ndata:", begin) + 1;
    recipe.replace(begin, end - begin, "model: {type: torchscript, file: model.pt}\n");
    write(folder_ / "small.yaml", recipe);
  }

  Ended in_folder(std::vector<std::string> words) const {
    return run(words, folder_.path(), environment());
  }

  std::string weights_of_run(const std::string& number, int step) const {
    char name[32];
    std::snprintf(name, sizeof name, "step-%08d", step);
    return read(folder_ / "runs/small/" + number + "/checkpoints/" + name + "/model.safetensors");
  }

  Folder folder_;
};

std::vector<std::string> six_steps(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run", "small.yaml", "train.duration=6 steps",
                                 "checkpoint.every=3 steps", "checkpoint.keep_last=5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(TorchScriptRuns, ResumeToTheBitWithDropout) {
  train_on("dropping.pt");
  const auto whole = in_folder(six_steps());
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.err,
              testing::HasSubstr("model.pt' may draw random numbers, such as dropout's, from "
                                 "PyTorch's generator. It is seeded for each step and first row of "
                                 "a batch: a resumed run is exact, and another number of devices "
                                 "or micro-batches draws other numbers"));
  const auto resumed = in_folder({"resume", "runs/small/001", "--checkpoint", "step-00000003"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights_of_run("002", 6), weights_of_run("001", 6));
}

/// The loss of the validation split after six steps in double.
double loss_of(const std::string& metrics_csv) {
  const auto last = metrics_csv.rfind("\n6,");
  std::istringstream head(metrics_csv), row(metrics_csv.substr(last + 1));
  std::string name, value;
  while (std::getline(head, name, ',') && std::getline(row, value, ','))
    if (name == "valid/loss") return std::stod(value);
  ADD_FAILURE() << metrics_csv;
  return 0;
}

TEST_F(TorchScriptRuns, AreEqualInEveryMode) {
  train_on("smooth.pt");
  int number = 0;
  double expected = 0;
  for (const std::string mode : {"none", "dp", "ddp", "zero1", "zero2", "fsdp"}) {
    auto words = six_steps({"train.precision=fp64", "parallel.mode=" + mode});
    if (mode != "none") words.emplace_back("parallel.devices=2");
    const auto ended = in_folder(words);
    ASSERT_EQ(ended.code, 0) << mode << "\n" << ended.err;
    const auto folder = "runs/small/00" + std::to_string(++number);
    const auto loss = loss_of(read(folder_ / (folder + "/metrics.csv")));
    if (mode == "none") expected = loss;
    EXPECT_NEAR(loss, expected, 1e-10) << mode;
  }
}

TEST_F(TorchScriptRuns, TrainUnderAutocastAndAverageTheirWeights) {
  train_on("shapes.pt");
  const auto ended = in_folder(six_steps({"train.precision=bf16", "train.ema.decay=0.9"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("model.pt' has batch norm, which a script computes "
                                            "from the rows of one device and micro-batch: results "
                                            "depend on how a batch is divided"));
}

TEST_F(TorchScriptRuns, RefuseAFileThatHasChanged) {
  train_on("shapes.pt");
  ASSERT_EQ(in_folder(six_steps()).code, 0);
  const auto before = digest_file(DigestKind::sha256, folder_ / "model.pt");
  EXPECT_THAT(read(folder_ / "runs/small/001/recipe.yaml"), testing::HasSubstr(before));
  fs::copy(module_file("dropping.pt"), folder_ / "model.pt", fs::copy_options::overwrite_existing);
  const auto resumed = in_folder({"resume", "runs/small/001", "train.duration=9 steps"});
  EXPECT_EQ(resumed.code, 2);
  EXPECT_THAT(
      resumed.err,
      testing::HasSubstr("sha256 of '" + fs::canonical(folder_ / "model.pt").string() + "' is " +
                         digest_file(DigestKind::sha256, folder_ / "model.pt") +
                         ", and the recipe wants " + before + ": the file has changed since"));
}

TEST_F(TorchScriptRuns, AreScoredAndPredictedAndTheirWeightsExported) {
  train_on("shapes.pt");
  ASSERT_EQ(in_folder(six_steps()).code, 0);
  EXPECT_EQ(in_folder({"eval", "runs/small/001"}).code, 0);
  EXPECT_EQ(in_folder({"predict", "runs/small/001", shapes() + "/val"}).code, 0);
  EXPECT_EQ(in_folder({"export", "runs/small/001", "weights.safetensors"}).code, 0);
  const auto graph = in_folder({"export", "runs/small/001", "graph.onnx"});
  EXPECT_EQ(graph.err,
            "error: 'torchscript' is a graph already, that of model.file; export its weights as "
            ".safetensors, and read them in Python with load_state_dict\n");
  EXPECT_EQ(graph.code, 2);
}

}  // namespace
}  // namespace ddptrain::end_to_end
