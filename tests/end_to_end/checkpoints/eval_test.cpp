// Scores do not depend on how many ranks computed them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

TEST(Eval, GivesTheRunsLastEvaluationToTheLastBitOnAnyNumberOfRanks) {
  const Folder folder;
  write(folder / "small.yaml",
        small_recipe("metrics: [accuracy, {type: top_k, k: 3}, per_class_accuracy]\n"
                     "eval: {every: 8 steps, batch: 7}\n"));
  ASSERT_EQ(run({"run", "small.yaml", "train.threads=1"}, folder.path(), environment()).code, 0);
  const auto one = run({"eval", "runs/small/001"}, folder.path());
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, testing::ContainsRegex("\nvalid/accuracy [-0-9.e]+\n"));
  for (const auto* devices : {"2", "3", "4"}) {
    const auto more = run(
        {"eval", "runs/small/001", "parallel.mode=ddp", std::string("parallel.devices=") + devices},
        folder.path());
    ASSERT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(more.out, one.out) << devices << " ranks";
  }
}

// Rates, epochs and averages of the run's own batch would fit no other: min_lr is above the rate of
// one sample a step, and 8 steps of 1 sample make no average.
TEST(Eval, BuildsNothingThatTrains) {
  const Folder folder;
  write(folder / "small.yaml",
        small_recipe("schedule: {type: cyclic, min_lr: 0.005, up: 2 steps}\neval: {batch: 7}\n"));
  const auto trained = run({"run", "small.yaml", kSmallModel, "train.threads=1",
                            "optimizer={type: sgd, lr: 0.01, lr_batch: 16}",
                            "train.swa={start: 1 epoch, every: 1 step}", "train.duration=9 steps"},
                           folder.path(), environment());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto one = run({"eval", "runs/small/001"}, folder.path());
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, testing::ContainsRegex("\nvalid_swa/accuracy [-0-9.e]+\n"));
  const auto three =
      run({"eval", "runs/small/001", "parallel.mode=ddp", "parallel.devices=3"}, folder.path());
  ASSERT_EQ(three.code, 0) << three.err;
  EXPECT_EQ(three.out, one.out);
}

/// "valid/loss 2.3" and so on.
std::map<std::string, double> scores(const std::string& out) {
  std::map<std::string, double> values;
  std::istringstream lines(out);
  std::string name, value;
  while (lines >> name >> value) values[name] = std::atof(value.c_str());
  return values;
}

/// The small shapes in class folders of other names; an empty name leaves a class out.
void copy_classes(const std::string& root, const std::map<std::string, std::string>& names) {
  for (const auto* split : {"train", "val"})
    for (const auto& name : list(shapes() + "/" + split)) {
      const auto found = names.find(name);
      const auto other = found == names.end() ? name : found->second;
      if (other.empty()) continue;
      std::filesystem::create_directories(root + "/" + split);
      std::filesystem::copy(shapes() + "/" + split + "/" + name, root + "/" + split + "/" + other,
                            std::filesystem::copy_options::recursive);
    }
}

/// The share of predictions that are the name of the folder that the image lies in.
double accuracy_of(const std::string& predictions) {
  std::istringstream lines(predictions);
  std::string line;
  std::getline(lines, line);
  double right = 0, rows = 0;
  for (; std::getline(lines, line); ++rows) {
    const auto comma = line.find(',');
    const auto label = line.substr(comma + 1, line.find(',', comma + 1) - comma - 1);
    right += line.find("/" + label + "/") != std::string::npos ? 1 : 0;
  }
  return right / rows;
}

std::vector<std::string> small_run(int steps) {
  return {"run",
          "small.yaml",
          kSmallModel,
          "train.duration=" + std::to_string(steps) + " steps",
          "optimizer={type: adam, lr: 3e-3}",
          "eval.every=100 steps",
          "checkpoint.every=100 steps",
          "train.threads=1"};
}

TEST(Eval, MatchesClassesByNameWhereSomeAreMissing) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run(small_run(150), folder.path(), environment()).code, 0);
  const auto classes = list(shapes() + "/val");
  copy_classes(folder / "other", {{classes[0], ""}, {classes[3], ""}, {classes[4], ""}});
  const auto other = "data.root=" + folder / "other";
  const auto trained = run({"eval", "runs/small/001", other, "--split", "train"}, folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto predicted = run({"predict", "runs/small/001", folder / "other/train"}, folder.path());
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_NEAR(scores(trained.out).at("train/accuracy"), accuracy_of(predicted.out), 1e-6);
  EXPECT_GT(scores(trained.out).at("train/accuracy"), 0.25) << "it learned too little to tell";
  EXPECT_THAT(predicted.err,
              testing::HasSubstr("predicted 84 samples of '" + folder / "other/train" + "' in "));
  const auto ended = run({"eval", "runs/small/001", other}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.err,
      testing::HasSubstr(
          "last weights, step 150: scored 28 samples of the validation split (data.valid: val)\n"));
  EXPECT_THAT(ended.err, testing::HasSubstr("3 of 10 classes have no samples here: " + classes[0] +
                                            ", " + classes[3] + ", " + classes[4] + "\n"));
}

TEST(Eval, NamesAnUnknownClassOrLeavesItOut) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run(small_run(2), folder.path(), environment()).code, 0);
  const auto classes = list(shapes() + "/val");
  copy_classes(folder / "other", {{classes[2], "zebra"}});
  const auto other = "data.root=" + folder / "other";
  const auto refused = run({"eval", "runs/small/001", other}, folder.path());
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_THAT(refused.err,
              testing::HasSubstr("class 'zebra' (of '" + folder / "other/train/zebra/"));
  const auto skipped =
      run({"eval", "runs/small/001", other, "policy.on_unknown_class=skip"}, folder.path());
  EXPECT_EQ(skipped.code, 0) << skipped.err;
  EXPECT_THAT(
      skipped.err,
      testing::HasSubstr(
          "last weights, step 2: scored 36 samples of the validation split (data.valid: val)\n"));
  EXPECT_THAT(
      skipped.err,
      testing::HasSubstr(
          "warning: 16 samples of 1 unknown class left out (policy.on_unknown_class): 'zebra'\n"));
}

TEST(Eval, ScoresASplitOrAllSamplesAndSaysWhich) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = small_run(2);
  words.insert(words.end(), {"data.train=val", "data.valid={fraction: 0.2}", "batch.global=8"});
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  const auto held = run({"eval", "runs/small/001"}, folder.path());
  EXPECT_THAT(
      held.err,
      testing::HasSubstr("scored 8 samples of the validation split (data.valid: {fraction: 0.2}); "
                         "'--split all' scores all 40"));
  const auto train = run({"eval", "runs/small/001", "--split", "train"}, folder.path());
  EXPECT_THAT(train.err, testing::HasSubstr(
                             "last weights, step 2: scored 32 samples of the training split\n"));
  const auto all = run({"eval", "runs/small/001", "--split", "all"}, folder.path());
  EXPECT_THAT(
      all.err,
      testing::HasSubstr(
          "last weights, step 2: scored 40 samples of the training and validation splits\n"));
  const auto valid = scores(held.out).at("valid/loss"),
             trained = scores(train.out).at("train/loss");
  EXPECT_NEAR(scores(all.out).at("all/loss"), (8 * valid + 32 * trained) / 40, 1e-6);
  EXPECT_EQ(run({"eval", "runs/small/001", "--split", "test"}, folder.path()).code, 2);
}

TEST(Eval, NamesTablesByTheirSplitAndMakesNoFolderWhereThereAreNone) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe("metrics: [accuracy, confusion_matrix]\n"));
  ASSERT_EQ(run(small_run(2), folder.path(), environment()).code, 0);
  const auto train =
      run({"eval", "runs/small/001", "--split", "train", "--tables", "tables"}, folder.path());
  ASSERT_EQ(train.code, 0) << train.err;
  EXPECT_THAT(read(folder / "tables/confusion.train.csv"),
              testing::HasSubstr("(last weights, step 2)"));
  EXPECT_EQ(list(folder / "tables"),
            (std::vector<std::string>{"classes.train.csv", "confusion.train.csv"}));
  const auto none =
      run({"eval", "runs/small/001", "--tables", "none", "metrics=[accuracy]"}, folder.path());
  ASSERT_EQ(none.code, 0) << none.err;
  EXPECT_THAT(none.err,
              testing::HasSubstr("warning: --tables: no file was written, since no metric of this "
                                 "run has a table; 'metrics+=[confusion_matrix]' adds one\n"));
  EXPECT_FALSE(exists(folder / "none"));
}

// An unusual weight decay is a warning to those who train.
TEST(Eval, AndPredictDoNotRepeatWarningsOfTheRecipe) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = small_run(2);
  words.emplace_back("optimizer={type: sgd, lr: 0.01, weight_decay: 5}");
  const auto trained = run(words, folder.path(), environment());
  EXPECT_THAT(trained.err, testing::HasSubstr("warning[unusual-value]: optimizer.weight_decay: 5 "
                                              "is far above what 'sgd' is used with, 1\n"))
      << trained.err;
  const auto image = shapes() + "/val/circle/" + list(shapes() + "/val/circle")[0];
  for (const auto& after :
       {std::vector<std::string>{"eval", "runs/small/001"}, {"predict", "runs/small/001", image}}) {
    const auto ended = run(after, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("unusual-value")));
  }
}

/// The small shapes as 1 to 10, which an image folder puts in the order of their bytes ("1", "10",
/// "2", ...) and a manifest in that of their values.
class OtherOrder : public testing::Test {
 protected:
  OtherOrder() {
    std::map<std::string, std::string> numbers;
    for (const auto& name : list(shapes() + "/val"))
      numbers[name] = std::to_string(numbers.size() + 1);
    copy_classes(folder_ / "numbers", numbers);
    std::string csv = "path,label,split\n";
    for (const auto* split : {"train", "val"})
      for (const auto& name : list(folder_ / "numbers/" + split))
        for (const auto& file : list(folder_ / "numbers/" + split + "/" + name))
          csv += std::string(split) + "/" + name + "/" + file + "," + name + "," +
                 (std::string(split) == "val" ? "valid" : "train") + "\n";
    write(folder_ / "numbers/list.csv", csv);
    write(folder_ / "small.yaml", small_recipe());
    const auto first = run(small_run(60), folder_.path(), {{"SHAPES", folder_ / "numbers"}});
    EXPECT_EQ(first.code, 0) << first.err;
    const auto eval = run({"eval", "runs/small/001"}, folder_.path());
    loss_ = scores(eval.out)["valid/loss"];
    EXPECT_GT(loss_, 0.1);
  }
  const Folder folder_;
  double loss_ = 0;
  const std::string manifest_ =
      "data={type: manifest, root: " + folder_ / "numbers" +
      ", file: " + folder_ / "numbers/list.csv" +
      ", transforms: {train: [{type: resize, size: 32}, {type: normalize, preset: imagenet}], "
      "valid: [{type: resize, size: 32}, {type: normalize, preset: imagenet}]}}";
};

TEST_F(OtherOrder, OfClassesDoesNotChangeAnEvaluation) {
  const auto ended = run({"eval", "runs/small/001", manifest_}, folder_.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NEAR(scores(ended.out)["valid/loss"], loss_, 1e-6);
}

// A step of rate almost 0 leaves the weights as they are.
TEST_F(OtherOrder, OfClassesDoesNotChangeWhatAResumedRunTrains) {
  const auto ended =
      run({"resume", "runs/small/001", manifest_, "optimizer.lr=1e-40", "train.duration=61 steps"},
          folder_.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NEAR(scores(run({"eval", "runs/small/001"}, folder_.path()).out)["valid/loss"], loss_,
              1e-6);
}

TEST_F(OtherOrder, OfClassesIsThatOfTheDataInARunThatBeginsFromTheWeights) {
  auto words = small_run(1);
  words.insert(words.end(), {manifest_, "optimizer.lr=1e-40", "model.weights=runs/small/001"});
  const auto ended = run(words, folder_.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, testing::ContainsRegex("classes +1 +9 +0 +0"));  // one did not move
  EXPECT_NEAR(scores(run({"eval", "runs/small/002"}, folder_.path()).out)["valid/loss"], loss_,
              1e-6);
}

TEST(Predict, WritesARowPerImageInDataOrder) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml"}, folder.path(), environment()).code, 0);
  const auto ended = run({"predict", "runs/small/001", shapes() + "/val"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::string header, line, before;
  std::getline(lines, header);
  EXPECT_EQ(header.substr(0, 11), "path,label,");
  int rows = 0;
  for (; std::getline(lines, line); ++rows, before = line) EXPECT_LT(before, line);
  EXPECT_EQ(rows, 40);
}

// 40 images in batches of 4.
TEST(OnATerminal, EvalAndPredictShowHowFarTheyAre) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml", kSmallModel}, folder.path(), environment()).code, 0);
  const auto shows = [&](const std::vector<std::string>& words, const std::string& line) {
    const auto text = on_terminal(words, folder.path());
    EXPECT_THAT(text, testing::HasSubstr(line));
    const auto last = text.rfind(line);
    EXPECT_NE(text.find("\r\033[J", last), std::string::npos) << text;  // and nothing stays
  };
  shows({"eval", "runs/small/001", "eval.batch=4"}, "evaluating, batch 1/10");
  shows({"eval", "runs/small/001", "eval.batch=4", "parallel.mode=ddp", "parallel.devices=2"},
        "evaluating, batch 1/5");
  shows({"predict", "runs/small/001", shapes() + "/val", "eval.batch=4"}, "predicted 4/40");
}

TEST(Export, WritesTheWeightsUnderTheirPlainNames) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml", "model={type: resnet18, num_classes: auto}",
                 "train.duration=2 steps", "parallel.mode=ddp", "parallel.devices=2",
                 "parallel.sync_bn=true"},
                folder.path(), environment())
                .code,
            0);
  const auto ended = run({"export", "runs/small/001", "weights.safetensors"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto bytes = read(folder / "weights.safetensors");
  for (const auto* name : {"\"conv1.weight\"", "\"layer4.1.bn2.running_var\"", "\"fc.bias\""})
    EXPECT_THAT(bytes, testing::HasSubstr(name)) << name;
}

}  // namespace
}  // namespace ddptrain::end_to_end
