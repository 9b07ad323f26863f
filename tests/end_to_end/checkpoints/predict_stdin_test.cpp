// `predict RUN -`: texts that are typed or piped, and tables.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "base/quoting.h"
#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class PredictStdin : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    for (const std::string side : {"train", "valid"})
      for (const std::string word : {"good", "bad"})
        for (int i = 0; i < 8; ++i)
          write(*folder_ / ("texts/" + side + "/" + word + "/" + std::to_string(i) + ".txt"),
                word + " film " + std::to_string(i) + " " + word + "\n");
    write(*folder_ / "texts.yaml", R"(recipe: 1
name: texts
model: {type: bag_of_embeddings}
data:
  type: text_folder
  root: texts
  vocabulary: {min_freq: 1}
  cache: cache
batch: {global: 4}
train: {duration: 4 steps, threads: 1}
optimizer: {type: adam, lr: 1e-3}
parallel: {device: cpu}
)");
    const auto trained = run({"run", "texts.yaml"}, folder_->path());
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  static void TearDownTestSuite() { delete folder_; }

  /// A shell's command, in which PREDICT stands for `ddptrain predict runs/texts/001`.
  static Ended shell(std::string command, const std::string& run_folder = "runs/texts/001") {
    const auto at = command.find("PREDICT");
    command.replace(at, 7, shell_word(test::program()) + " predict " + run_folder);
    return Program({"-c", "set -o pipefail; " + command}, folder_->path(), {}, "/bin/bash").wait();
  }

  static Folder* folder_;
};
Folder* PredictStdin::folder_ = nullptr;

TEST_F(PredictStdin, AnswersEachLineAsAFileWithThatText) {
  const auto ended = shell(R"(printf 'good film 7 good\r\n\nbad bad' | PREDICT -)");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 4U) << ended.out;
  EXPECT_EQ(lines[0], "line,label,bad,good,error");
  EXPECT_THAT(lines[1], StartsWith("1,"));
  EXPECT_THAT(lines[2], StartsWith("2,")) << "an empty line is an empty text";
  EXPECT_THAT(lines[3], StartsWith("3,"));
  write(*folder_ / "last.txt", "bad bad");
  const auto file = lines_of(run({"predict", "runs/texts/001", "last.txt"}, folder_->path()).out);
  const auto probability = [](const std::string& line) {
    return std::stod(line.substr(line.find(',', line.find(',') + 1) + 1));
  };
  EXPECT_NEAR(probability(lines[3]), probability(file.at(1)), 1e-6);
  EXPECT_THAT(ended.err, HasSubstr("predicted 3 samples of stdin"));
}

TEST_F(PredictStdin, CostsALineThatIsNoTextOnlyItsRow) {
  const auto ended = shell(R"(printf 'good\n\xff\xfe\nbad\n' | PREDICT - --format jsonl)");
  EXPECT_EQ(ended.code, 3) << ended.err;
  const auto lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 3U) << ended.out;
  const auto answer = [](const std::string& line) {
    return testing::MatchesRegex(R"x(\{"line":")x" + line +
                                 R"x(","label":"(good|bad)",)x"
                                 R"x("probabilities":\{"bad":[0-9.]+,"good":[0-9.]+\}\})x");
  };
  EXPECT_THAT(lines[0], answer("1"));
  EXPECT_EQ(lines[1], R"x({"line":"2","error":"line 2: not UTF-8 text (byte 1)"})x");
  EXPECT_THAT(lines[2], answer("3"));
  EXPECT_EQ(shell(R"(printf '\xff\n' | PREDICT - --skip-bad)").code, 0);
}

TEST_F(PredictStdin, TakesALineOfTenMegabytes) {
  const auto ended =
      shell("{ yes good | head -n 2000000 | tr '\\n' ' '; echo; echo bad; } | PREDICT -");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(lines_of(ended.out).size(), 3U);
}

TEST_F(PredictStdin, MayHoldNothing) {
  const auto ended = shell("PREDICT - < /dev/null");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "line,label,bad,good,error\n");
}

TEST_F(PredictStdin, EndsWhereNobodyReadsTheAnswers) {
  const auto ended = shell("yes 'good film' | PREDICT - | head -n 1; echo ${PIPESTATUS[1]} >&2");
  EXPECT_EQ(ended.out, "line,label,bad,good,error\n");
  EXPECT_EQ(lines_of(ended.err).back(), "141");
}

TEST_F(PredictStdin, AnswersWhileTheInputPausesAndEndsOnInterrupt) {
  const auto pipe = *folder_ / "pipe", out = *folder_ / "answers.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Program program({"-c", "exec " + shell_word(test::program()) +
                             " predict runs/texts/001 - < pipe > answers.csv"},
                  folder_->path(), {}, "/bin/bash");
  const int input = ::open(pipe.c_str(), O_WRONLY);
  ASSERT_GE(input, 0);
  const auto answered = [&](std::size_t lines) {
    while (program.running() && (!exists(out) || lines_of(read(out)).size() < lines))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return lines_of(read(out)).size();
  };
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(::write(input, "good\n", 5), 5);
    ASSERT_EQ(answered(1 + i), 1 + i);
  }
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 128 + SIGINT);
  ::close(input);
}

TEST_F(PredictStdin, IsATableForARunOfTables) {
  std::string csv = "rooms,price\n";
  for (int i = 0; i < 60; ++i) csv += std::to_string(i % 5) + "," + std::to_string(i % 5) + "\n";
  write(*folder_ / "flats.csv", csv);
  write(*folder_ / "flats.yaml", R"(recipe: 1
name: flats
model: {type: tabular, layers: [4]}
data: {type: csv_table, file: flats.csv, target: [price], valid: {fraction: 0.2}}
batch: {global: 12}
train: {duration: 2 steps, threads: 1}
parallel: {device: cpu}
)");
  const auto trained = run({"run", "flats.yaml"}, folder_->path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto piped = shell("PREDICT - < flats.csv", "runs/flats/001");
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, run({"predict", "runs/flats/001", "flats.csv"}, folder_->path()).out);
  EXPECT_EQ(shell("PREDICT - < /dev/null", "runs/flats/001").code, 3);
}

TEST_F(PredictStdin, IsRefusedWhereItCannotBe) {
  const auto two = shell("PREDICT - texts < /dev/null");
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("goes with no other input"));
  EXPECT_EQ(shell("PREDICT - parallel.devices=2 < /dev/null").code, 2);
  write(*folder_ / "small.yaml", small_recipe());
  const auto trained =
      run({"run", "small.yaml", kSmallModel, "train.threads=1"}, folder_->path(), environment());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto images = shell("PREDICT - < /dev/null", "runs/small/001");
  EXPECT_EQ(images.code, 2);
  EXPECT_THAT(images.err, HasSubstr("'--list -' reads their names"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
