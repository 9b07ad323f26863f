#include "generation/generator.h"

#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kWords = 10;
constexpr std::int64_t kPositions = 32;

/// Counts and sums the tokens of each sequence.
struct SumMemory final : Memory {
  struct Read {
    std::int64_t length = 0, sum = 0;
  };
  std::vector<Read> all;
  std::int64_t most = 0;

  void begin(std::int64_t sequences, std::int64_t tokens) override {
    all.assign(static_cast<std::size_t>(sequences), {});
    most = tokens;
  }
  std::int64_t length(std::int64_t sequence) const override {
    return all.at(static_cast<std::size_t>(sequence)).length;
  }
  void cut(std::int64_t, std::int64_t) override {}
  void copy(std::int64_t, std::int64_t) override {}
  std::vector<NamedTensor> save(std::int64_t) const override { return {}; }
  void load(std::int64_t, const std::vector<NamedTensor>&) override {}
};

/// The likeliest next token is the sum of all before it, modulo ten; the others have scores that
/// fall with the distance to it.
struct SumModel final : Model {
  explicit SumModel(bool writes = true) : writes_(writes) {
    weight_ = parameter("weight", at::eye(kWords)).detach();
  }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
  Projection projection() const override { return {weight_, {}}; }
  std::optional<std::int64_t> positions() const override { return kPositions; }
  std::unique_ptr<Memory> make_memory() override {
    return writes_ ? std::make_unique<SumMemory>() : nullptr;
  }
  at::Tensor extend(const Continuation& further, Memory& memory) override {
    auto& sums = dynamic_cast<SumMemory&>(memory);
    std::vector<at::Tensor> rows;
    const auto* token = further.tokens.const_data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < further.sequences.size(); ++i) {
      auto& read = sums.all.at(static_cast<std::size_t>(further.sequences[i]));
      for (std::int64_t n = 0; n < further.counts[i]; ++n) read.sum += *token++;
      read.length += further.counts[i];
      EXPECT_LE(read.length, sums.most);
      auto scores = at::full({kWords}, 0.0);
      for (std::int64_t word = 0; word < kWords; ++word)
        scores[word] = -0.5 * static_cast<double>((word - read.sum % kWords + kWords) % kWords);
      rows.push_back(scores);
    }
    batches.push_back(std::ssize(rows));
    return at::stack(rows);
  }

  std::vector<std::int64_t> batches;  // sequences of each call

 private:
  bool writes_;
  at::Tensor weight_;
};

using Texts = std::map<std::size_t, std::vector<std::int64_t>>;

struct WrittenRun {
  SumModel model;
  Texts written;

  WrittenRun(const std::vector<Prompt>& prompts, const GenerationOptions& options) {
    Generator(model, "sum").run(prompts, options, [&](std::size_t prompt, std::int64_t token) {
      written[prompt].push_back(token);
      return Writing::on;
    });
  }
};

GenerationOptions greedy(std::int64_t tokens) {
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.tokens = tokens;
  return options;
}

TEST(Generator, WritesWhatTheModelScoresHighest) {
  const WrittenRun run({{{1, 2}, 0}}, greedy(5));
  EXPECT_THAT(run.written.at(0), ElementsAre(3, 6, 2, 4, 8));
}

// 3 would be first; 4 is next to it, and then the sums are 7, 14, 18 and 26.
TEST(Generator, WritesTheNextBestInsteadOfWhatItMayNot) {
  auto options = greedy(5);
  options.never = {3};
  const WrittenRun run({{{1, 2}, 0}}, options);
  EXPECT_THAT(run.written.at(0), ElementsAre(4, 7, 4, 8, 6));
}

TEST(Generator, EndTokensAreKeptAndLeaveTheBatch) {
  auto options = greedy(4);
  options.ends = {6, 9};
  const WrittenRun run({{{1, 2}, 0}, {{5}, 1}, {{9}, 2}}, options);
  EXPECT_THAT(run.written.at(0), ElementsAre(3, 6));
  EXPECT_THAT(run.written.at(1), ElementsAre(5, 0, 0, 0));
  EXPECT_THAT(run.written.at(2), ElementsAre(9));
  EXPECT_THAT(run.model.batches, ElementsAre(3, 2, 1, 1));
}

TEST(Generator, APromptAmongOthersIsThePromptAlone) {
  GenerationOptions options;
  options.tokens = 20;
  options.seed = 3;
  options.ends = {7};
  std::vector<Prompt> prompts;
  for (std::int64_t i = 0; i < 6; ++i)
    prompts.push_back({std::vector<std::int64_t>(static_cast<std::size_t>(1 + i % 3), i), i});
  const WrittenRun together(prompts, options);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const WrittenRun alone({prompts[i]}, options);
    EXPECT_EQ(alone.written.at(0), together.written.at(i)) << i;
  }
}

TEST(Generator, TextsDependOnSeedAndNumber) {
  GenerationOptions options;
  options.tokens = 20;
  const WrittenRun first({{{1}, 0}, {{1}, 1}}, options);
  EXPECT_NE(first.written.at(0), first.written.at(1));
  options.seed = 1;
  const WrittenRun second({{{1}, 0}}, options);
  EXPECT_NE(first.written.at(0), second.written.at(0));
}

TEST(Generator, ATextContinuesAsIfItHadNotEnded) {
  GenerationOptions options;
  options.tokens = 12;
  const auto whole = WrittenRun({{{4}, 0}}, options).written.at(0);
  options.tokens = 5;
  std::vector<std::int64_t> text{4};
  const auto begun = WrittenRun({{text, 0}}, options).written.at(0);
  text.insert(text.end(), begun.begin(), begun.end());
  options.tokens = 7;
  const auto rest = WrittenRun({{text, 0}}, options).written.at(0);
  text.insert(text.end(), rest.begin(), rest.end());
  EXPECT_EQ(std::vector<std::int64_t>(text.begin() + 1, text.end()), whole);
}

TEST(Generator, TheAnswerToATokenEndsItsSequenceOrAll) {
  SumModel model;
  Texts written;
  Generator generator(model, "sum");
  generator.run({{{1}, 0}, {{2}, 1}}, greedy(10), [&](std::size_t prompt, std::int64_t token) {
    written[prompt].push_back(token);
    if (prompt == 0 && token == 2) return Writing::sequence_ends;
    return written[1].size() == 4 ? Writing::all_end : Writing::on;
  });
  EXPECT_THAT(written.at(0), ElementsAre(1, 2));
  EXPECT_THAT(written.at(1), ElementsAre(2, 4, 8, 6));
}

template <class Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "no error";
}

std::string message_of(const std::vector<Prompt>& prompts, std::int64_t tokens) {
  return message_of([&] { const WrittenRun run(prompts, greedy(tokens)); });
}

TEST(Generator, RefusesWhatDoesNotFit) {
  EXPECT_EQ(message_of({{{1}, 0}, {{}, 1}}, 3), "prompt 2 has no token");
  EXPECT_EQ(message_of({{std::vector<std::int64_t>(40, 1), 0}}, 3),
            "prompt 1 has 40 tokens, and model 'sum' reads 32 with those that it writes");
  EXPECT_EQ(message_of({{{1}, 0}, {std::vector<std::int64_t>(30, 1), 1}}, 3),
            "prompt 2 has 30 tokens, and 3 more are 33 together, but model 'sum' reads 32 at "
            "most; 2 fit");
}

TEST(Generator, HasRoomForTheRestOfThePositions) {
  SumModel model;
  EXPECT_EQ(Generator(model, "sum").room({{{1}, 0}, {{1, 2, 3}, 1}}), kPositions - 3);
}

TEST(Generator, RefusesAModelThatWritesNoText) {
  SumModel model(/*writes=*/false);
  EXPECT_THAT(message_of([&] { const Generator generator(model, "sum"); }),
              HasSubstr("model 'sum' writes no text"));
}

}  // namespace
}  // namespace ddptrain
