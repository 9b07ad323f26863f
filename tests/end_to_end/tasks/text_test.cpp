// Texts through the same loop as images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/files/files.h"
#include "base/text.h"
#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

/// Reviews of 2 to 40 words, `each` of a class and split.
void write_reviews(const Folder& folder, int each) {
  const char* good[] = {"fine", "warm", "bright", "Grand"};
  const char* bad[] = {"dull", "cold", "weak", "Hollow"};
  const char* plain[] = {"the", "film", "was", "a", "story", "of", "people", ",", "and"};
  for (const std::string split : {"train", "test"})
    for (int i = 0; i < 2 * each; ++i) {
      std::string text;
      for (int word = 0; word < 2 + i * 7 % 39; ++word)
        text += std::string(word % 3 == 1 ? (i % 2 ? good : bad)[(i + word) % 4]
                                          : plain[(i * word + word) % 9]) +
                " ";
      write(folder / "reviews/" + split + (i % 2 ? "/pos/" : "/neg/") + std::to_string(i) + ".txt",
            text);
    }
}

struct ShippedTexts {
  const char* name;
  std::vector<std::string> small;  // sizes for a test, dropout on
};

const std::vector<ShippedTexts>& recipes() {
  static const std::vector<ShippedTexts> all{
      {"imdb",
       {"model.emb_sz=8", "model.n_hid=10", "model.n_layers=2", "model.lin_ftrs=[6]",
        "model.bptt=16", "data.padding.chunk=16"}},
      {"imdb-bag", {"model.dim=8", "model.buckets=50", "~expect"}},
      {"imdb-transformer",
       {"model.dim=12", "model.num_heads=3", "model.mlp_dim=16", "model.max_len=30"}}};
  return all;
}

std::vector<std::string> words(const ShippedTexts& recipe, const std::vector<std::string>& more) {
  std::vector<std::string> all{"run",
                               test::in_source("recipes/" + std::string(recipe.name) + ".yaml"),
                               "name=texts",
                               "data.root=reviews",
                               "data.cache=cache",
                               "data.vocabulary.min_freq=1",
                               "train.duration=7 steps",
                               "batch.global=16",
                               "parallel.device=cpu",
                               "train.threads=1",
                               "eval.batch=7",
                               "output.dir=runs"};
  all.insert(all.end(), recipe.small.begin(), recipe.small.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class TextsOnRanks : public testing::TestWithParam<int> {
 protected:
  TextsOnRanks() { write_reviews(folder_, 30); }
  static std::vector<std::string> start(std::vector<std::string> more) {
    const int ranks = GetParam();
    more.insert(more.end(), {std::string("parallel.mode=") + (ranks > 1 ? "ddp" : "none"),
                             "parallel.devices=" + std::to_string(ranks)});
    return words(recipes()[1], more);
  }
  Folder folder_;
};
INSTANTIATE_TEST_SUITE_P(RunSafety, TextsOnRanks, testing::Values(1, 2));

// A run waits for the lock on its packed texts, which the test holds until it has asked for an end.
TEST_P(TextsOnRanks, AreNotTrainedOnByARunThatIsAskedToStopBefore) {
  ASSERT_EQ(run(start({}), folder_.path()).code, 0);
  std::filesystem::remove_all(folder_ / "runs");
  std::string packed;
  for (const auto& name : list(folder_ / "cache"))
    if (name.ends_with(".ids")) packed = folder_ / "cache/" + name;
  for (const int signal : {SIGTERM, SIGINT}) {
    std::filesystem::remove(packed);
    auto lock = std::make_unique<FileLock>(packed + ".lock");
    Program program(start({"train.duration=1000000 steps"}), folder_.path());
    while (program.running() && program.err().find("run folder") == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    program.signal(signal);
    lock.reset();
    const auto ended = program.wait();
    EXPECT_EQ(ended.code, 128 + signal) << ended.err;
    EXPECT_FALSE(exists(folder_ / "runs/texts")) << "signal " << signal;
    if (GetParam() == 1) {
      EXPECT_FALSE(exists(packed)) << "texts are not read to their end";
    }
  }
}

// The packed texts are mapped: what is cut from the file is gone from memory.
TEST_P(TextsOnRanks, ThatAreCutEndTheRunWithTheirNameAndACheckpointFromWhichItGoesOn) {
  const auto& folder = folder_;
  const auto start = TextsOnRanks::start(
      {"train.duration=1000000 steps", "log.every=1 step", "eval.every=1000000 steps"});
  Program program(start, folder.path());
  while (program.running() && reached_step(program.err()) < 5)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (const auto& name : list(folder / "cache"))
    if (name.ends_with(".ids")) std::filesystem::resize_file(folder / "cache/" + name, 0);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err,
              testing::ContainsRegex("error: (rank [01]: )?'[^\n]+/cache/[0-9a-f]+\\.ids' was cut, "
                                     "or its disk failed, while it was being read \\(SIGBUS\\); "
                                     "replace files by renaming a new one into their place\n"));
  const auto saved = list(folder / "runs/texts/001/checkpoints");
  ASSERT_FALSE(saved.empty()) << ended.err;
  const auto step = std::stoi(saved.back().substr(5));
  EXPECT_GE(step, 5);
  const auto again = run({"resume", "runs/texts/001", "eval.every=1000000 steps",
                          "train.duration=" + std::to_string(step + 3) + " steps"},
                         folder.path());
  EXPECT_EQ(again.code, 0) << again.err;
}

class Texts : public testing::TestWithParam<std::size_t> {
 protected:
  Texts() { write_reviews(folder_, 30); }
  Ended train(const std::vector<std::string>& more) {
    return run(words(recipes()[GetParam()], more), folder_.path());
  }
  std::string scores(const std::vector<std::string>& more) {
    auto all = more;
    all.insert(all.end(), {"train.precision=fp64", "log.every=1 step"});
    if (GetParam() == 0) all.push_back("parallel.sync_bn=true");
    const auto ended = train(all);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto csv =
        read(folder_ / "runs/texts/" + list(folder_ / "runs/texts").back() + "/metrics.csv");
    const auto line = csv.substr(csv.find('\n') + 1);
    return line.substr(0, line.find('\n'));
  }
  Folder folder_;
};

TEST_P(Texts, TrainAsShippedAndAreEvaluatedEquallyOnAnyNumberOfRanks) {
  const auto ended = train({});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto one = run({"eval", "runs/texts/001"}, folder_.path());
  ASSERT_THAT(one.out, testing::HasSubstr("accuracy")) << one.err;
  for (const auto* devices : {"parallel.devices=2", "parallel.devices=3"}) {
    const auto more = run({"eval", "runs/texts/001", "parallel.mode=ddp", devices}, folder_.path());
    EXPECT_EQ(more.out, one.out) << devices << ": " << more.err;
  }
}

TEST_P(Texts, ScoreTheSameWithNoneDpAndDdp) {
  const auto none = scores({"parallel.mode=none"});
  ASSERT_FALSE(none.empty());
  for (const auto* mode : {"parallel.mode=dp", "parallel.mode=ddp"})
    for (const auto* devices : {"parallel.devices=1", "parallel.devices=2"}) {
      const auto other = scores({mode, devices});
      ASSERT_EQ(std::count(other.begin(), other.end(), ','),
                std::count(none.begin(), none.end(), ','));
      std::istringstream a(none), b(other);
      for (std::string x, y; std::getline(a, x, ',') && std::getline(b, y, ',');)
        EXPECT_NEAR(std::stod(x), std::stod(y), 1e-9) << mode << " " << devices;
    }
}

/// Two runs, one of which is killed in mid-epoch and resumed, end with the same files.
TEST_P(Texts, ResumeInMidEpochBitForBit) {
  const std::vector<std::string> how{"train.duration=80 steps",  "train.stages=[]",
                                     "checkpoint.every=2 steps", "checkpoint.keep_last=100",
                                     "parallel.mode=ddp",        "parallel.devices=2"};
  ASSERT_EQ(train(how).code, 0);
  const auto whole = folder_ / "runs/texts/001", cut = folder_ / "runs/texts/002";
  Program program(words(recipes()[GetParam()], how), folder_.path());
  while (program.running() && !exists(cut + "/checkpoints/step-00000006/MANIFEST.json"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  program.signal(SIGKILL);
  ASSERT_EQ(program.wait().code, 128 + SIGKILL) << "it ended before it was killed";
  const auto resumed = run({"resume", cut}, folder_.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string last = "/checkpoints/step-00000080";
  for (const auto* file : {"/model.safetensors", "/optimizer.safetensors", "/state.json"}) {
    ASSERT_FALSE(read(whole + last + file).empty()) << file;
    EXPECT_TRUE(read(whole + last + file) == read(cut + last + file)) << file;
  }
}

/// "valid/loss 0.693" of what `eval` prints.
double validation_loss(const std::string& scores) {
  const std::string name = "valid/loss ";
  const auto at = scores.find(name);
  if (at == std::string::npos) return std::nan("");
  return std::stod(scores.substr(at + name.size()));
}

/// The mean of a column of a CSV without quotes, of its last row where `last`.
double mean_in(const std::string& csv, const std::string& column, bool last = false) {
  const auto lines = split(csv, '\n');
  const auto names = split(lines.at(0), ',');
  const auto at = std::find(names.begin(), names.end(), column) - names.begin();
  double sum = 0, count = 0;
  for (std::size_t i = 1; i < lines.size() && !lines[i].empty(); ++i) {
    const auto cells = split(lines[i], ',');
    if (last) sum = count = 0;
    sum += std::stod(cells.at(static_cast<std::size_t>(at))), ++count;
  }
  return sum / count;
}

// A text is padded to the longest of its batch, which another batch has not.
TEST_P(Texts, ScoreATextAlikeInTheRunInEvalAndInPredict) {
  const auto trained = train({});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const double recorded =
      mean_in(read(folder_ / "runs/texts/001/metrics.csv"), "valid/loss", /*last=*/true);
  for (const std::string batch : {"1", "16", "60"}) {
    const auto ended = run({"eval", "runs/texts/001", "eval.batch=" + batch}, folder_.path());
    EXPECT_NEAR(validation_loss(ended.out), recorded, 1e-6) << batch << ended.out << ended.err;
  }
  const auto predicted = run({"predict", "runs/texts/001", "reviews/test"}, folder_.path());
  EXPECT_NEAR(mean_in(predicted.out, "loss"), recorded, 1e-6) << predicted.err;
}

TEST_P(Texts, AClassifierWritesNoText) {
  ASSERT_EQ(train({"train.duration=1 step"}).code, 0);
  const auto ended = run({"generate", "runs/texts/001", "a film"}, folder_.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err,
              testing::HasSubstr("writes no text; 'ddptrain predict' gives its predictions"));
  EXPECT_EQ(ended.out, "");
}

INSTANTIATE_TEST_SUITE_P(Recipes, Texts, testing::Range<std::size_t>(0, 3), [](const auto& given) {
  std::string name = recipes()[given.param].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(TextRun, TellsHowAwdLstmWantsItsTextsPadded) {
  const Folder folder;
  write_reviews(folder, 30);
  const auto ended =
      run(words(recipes()[0], {"data.padding={side: last}", "data.sampler={type: shuffle}"}),
          folder.path());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err,
              testing::HasSubstr(
                  "data.padding: 'awd_lstm' reads segments of 16 tokens; write '{side: chunks, "
                  "chunk: 16}'"));
}

// Nothing of the file is left, and the weights alone can be loaded.
TEST(TextRun, OfSegmentsHasNoGraphToExport) {
  const Folder folder;
  write_reviews(folder, 30);
  const auto trained = run(words(recipes()[0], {"train.stages=[]"}), folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const std::string file : {"m.onnx", "m.pt"}) {
    const auto ended = run({"export", "runs/texts/001", file}, folder.path());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(
        ended.err,
        testing::HasSubstr(
            "error: 'awd_lstm' reads a text segment by segment, as often as its length asks for, "
            "and a graph has no such loop; its weights can be exported as .safetensors\n"));
    EXPECT_FALSE(exists(folder / file));
  }
  EXPECT_EQ(run({"export", "runs/texts/001", "m.safetensors"}, folder.path()).code, 0);
}

TEST(SwaOfTexts, MeasuresItsStatisticsOnTextsOfDifferentLengths) {
  const Folder folder;
  write_reviews(folder, 30);
  auto all = words(recipes()[0], {"train.swa={start: 3 steps, every: 1 step}"});
  const auto ended = run(all, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(read(folder / "runs/texts/001/metrics.csv"),
              testing::StartsWith("step,epoch,samples,train/loss,train/lr,valid/loss,valid/"
                                  "accuracy,valid_swa/loss,valid_swa/accuracy\n"));
  all[0] = "validate";
  all.insert(all.end(), {"--level", "step"});
  const auto rehearsed = run(all, folder.path());
  EXPECT_EQ(rehearsed.code, 0) << rehearsed.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
