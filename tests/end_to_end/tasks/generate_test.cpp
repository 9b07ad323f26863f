// Texts that a language model writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

/// A run that has learned to count: "one two three four five one two ...".
class CountingRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<Folder>();
    const std::vector<std::string> numbers{"one", "two", "three", "four", "five"};
    for (int i = 0; i < 30; ++i) {
      std::string text;
      for (int word = 0; word < 40; ++word)
        text += numbers[static_cast<std::size_t>((i + word) % 5)] + " ";
      write(*folder_ / "texts/train/" + std::to_string(i) + ".txt", text);
    }
    write(*folder_ / "count.yaml",
          "name: count\n"
          "data: {type: text_folder, root: texts, task: language_model, valid: {fraction: 0.2}, "
          "cache: cache, vocabulary: {min_freq: 1}, blocks: {length: 16}}\n"
          "model: {type: awd_lstm_lm, emb_sz: 16, n_hid: 32, n_layers: 1, drop_mult: 0}\n"
          "metrics: [perplexity]\n"
          "optimizer: {type: adam, lr: 0.02}\n"
          "batch: {global: 8}\n"
          "train: {duration: 100 steps, threads: 1}\n"
          "parallel: {device: cpu}\n");
    trained_ = end_to_end::run({"run", "count.yaml", "output.dir=runs"}, folder_->path());
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override { ASSERT_EQ(trained_.code, 0) << trained_.err; }

  static Ended generate(std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "runs/count/001"});
    return end_to_end::run(more, folder_->path());
  }
  static Ended shell(const std::string& before, const std::string& flags) {
    const auto command = before + test::program() + " generate runs/count/001 " + flags;
    return Program({"-c", command}, folder_->path(), {}, "/bin/bash").wait();
  }

  static std::unique_ptr<Folder> folder_;
  static Ended trained_;
};
std::unique_ptr<Folder> CountingRun::folder_;
Ended CountingRun::trained_;

TEST_F(CountingRun, PredictsNothingElse) {
  const auto ended = end_to_end::run({"predict", "runs/count/001", "texts"}, folder_->path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("error: model 'awd_lstm_lm' predicts the next token of a text; "
                                   "'ddptrain generate' writes texts, 'ddptrain eval' scores "
                                   "them\n"));
}

TEST_F(CountingRun, ContinuesWhatItLearned) {
  const auto ended = generate({"one two", "--greedy", "--tokens", "6"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, " three four five one two three\n");
  EXPECT_THAT(ended.err, HasSubstr("wrote 6 tokens behind 1 prompt in "));
}

TEST_F(CountingRun, ShowsSeveralTextsUnderTheirPrompts) {
  const auto ended = generate({"one two", "four", "--greedy", "--tokens", "3"});
  EXPECT_EQ(ended.out, "> one two\n three four five\n\n> four\n five one two\n\n") << ended.err;
}

TEST_F(CountingRun, ReadsPromptsFromStdin) {
  const auto ended = shell("printf 'one two\\nfour\\n' | ", "- --greedy --tokens 3");
  EXPECT_EQ(ended.out, "> one two\n three four five\n\n> four\n five one two\n\n") << ended.err;
  EXPECT_EQ(shell("printf 'one two\\nfour\\n' | ", "--greedy --tokens 3").out, ended.out);
}

TEST_F(CountingRun, EndsBeforeAStopText) {
  const auto ended = generate({"one two", "--greedy", "--stop", " five", "--json"});
  const auto line = nlohmann::json::parse(ended.out);
  EXPECT_EQ(line.at("prompt"), "one two");
  EXPECT_EQ(line.at("text"), " three four");
  EXPECT_EQ(line.at("end"), "stop");
  EXPECT_EQ(line.at("tokens"), 3);
}

TEST_F(CountingRun, ATextDependsOnItsSeedAndNotOnOtherPrompts) {
  const std::vector<std::string> flags{"--temperature", "30", "--tokens", "20", "--json"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), flags.begin(), flags.end());
    const auto ended = generate(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return split(ended.out, '\n').front();
  };
  const auto alone = with({"one"});
  EXPECT_EQ(with({"one", "two", "three four"}), alone);
  EXPECT_EQ(with({"one", "--seed", "0"}), alone);
  EXPECT_NE(with({"one", "--seed", "1"}), alone);
}

TEST_F(CountingRun, WarnsOfWordsThatTheModelDoesNotKnow) {
  const auto ended = generate({"one two", "six seven one", "--greedy", "--tokens", "3"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("prompt 2: 2 of "));
  EXPECT_THAT(ended.err, HasSubstr("are no words of the model's vocabulary: read as 'xxunk'"));
  EXPECT_THAT(ended.err, testing::Not(HasSubstr("prompt 1: ")));
}

TEST_F(CountingRun, RefusesAnEmptyPrompt) {
  const auto ended = generate({"one", " "});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("prompt 2: it is empty"));
}

TEST_F(CountingRun, EndsByCtrlC) {
  Program program(
      {"generate", "runs/count/001", "one", "--tokens", "100000000", "--temperature", "0.01"},
      folder_->path());
  while (program.running() && program.err().find("weights") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  program.signal(SIGINT);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 128 + SIGINT) << ended.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
