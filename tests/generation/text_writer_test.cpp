#include "generation/text_writer.h"

#include <ATen/ops/add.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/stack.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const json kTokenizer{{"type", "fastai"}};
const std::vector<std::string> kVocabulary{"xxunk", "xxpad", "xxbos", "xxeos", "a", "b", "c", "d"};

constexpr std::int64_t kCount = 8;  // words

/// Forgets nothing, since the next word is that behind the last one.
struct NoMemory final : Memory {
  void begin(std::int64_t, std::int64_t) override {}
  std::int64_t length(std::int64_t) const override { return 0; }
  void cut(std::int64_t, std::int64_t) override {}
  void copy(std::int64_t, std::int64_t) override {}
  std::vector<NamedTensor> save(std::int64_t) const override { return {}; }
  void load(std::int64_t, const std::vector<NamedTensor>&) override {}
};

/// Writes the next word of the vocabulary; behind the last one, the first.
struct NextWord final : Model {
  NextWord() { weight_ = parameter("weight", at::eye(kCount)).detach(); }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
  Projection projection() const override { return {weight_, {}}; }
  std::optional<std::int64_t> positions() const override { return 9; }
  std::unique_ptr<Memory> make_memory() override { return std::make_unique<NoMemory>(); }
  at::Tensor extend(const Continuation& further, Memory&) override {
    std::vector<at::Tensor> rows;
    std::int64_t read = 0;
    for (const auto count : further.counts) {
      read += count;
      const auto last = further.tokens[read - 1];
      const auto next = at::remainder(at::add(last, 1), kCount);
      rows.push_back(at::one_hot(next, kCount).to(at::kFloat));
    }
    return at::stack(rows);
  }

 private:
  at::Tensor weight_;
};

FittedTokens fitted() {
  const auto digest = catalog<Tokenizer>().build(fragment<Tokenizer>(kTokenizer))->digest();
  const json state{{"tokenizer", digest},
                   {"tokenizer_options", {{"type", "fastai"}}},
                   {"vocabulary", kVocabulary}};
  return fitted_tokens_of(state.dump());
}

struct Writer {
  NextWord model;
  Generator generator{model, "next_word"};
  TextCodec codec{fragment<Tokenizer>(kTokenizer), fitted()};
  std::vector<std::string> shown;  // of each text

  std::vector<FinishedText> write(const std::vector<std::string>& prompts, WritingOptions options) {
    options.sampling.temperature = 0;
    TextWriter writer(generator, codec, options);
    writer.begin(prompts, 0);
    shown.assign(prompts.size(), "");
    while (writer.step([&](std::size_t i, const std::string& piece, bool) { shown[i] += piece; })) {
    }
    return writer.texts();
  }
};

std::vector<std::string> lines_of(const std::vector<FinishedText>& texts) {
  std::vector<std::string> lines;
  for (const auto& each : texts)
    lines.push_back(each.prompt + "|" + each.text + "|" + std::to_string(each.tokens) + " " +
                    std::string(name_of(each.end)));
  return lines;
}

TEST(TextWriter, WritesBehindEachPromptAndSaysWhyItEnded) {
  Writer writer;
  EXPECT_THAT(lines_of(writer.write({"a", "b"}, {.tokens = 2})),
              ElementsAre("a| b c|2 length", "b| c d|2 length"));
  EXPECT_THAT(writer.shown, ElementsAre(" b c", " c d"));
}

TEST(TextWriter, EndsBehindAMarkAndBeforeAStopText) {
  Writer writer;
  EXPECT_THAT(lines_of(writer.write({"a", "b"}, {.tokens = 6, .ends = {6}})),
              ElementsAre("a| b c|2 token", "b| c|1 token"));
  EXPECT_THAT(lines_of(writer.write({"a"}, {.tokens = 6, .stops = {" c"}})),
              ElementsAre("a| b|2 stop"));
}

TEST(TextWriter, NeverWritesTheUnknownWord) {
  Writer writer;
  const auto texts = writer.write({"d"}, {.tokens = 1});
  EXPECT_EQ(texts.at(0).text.find("unk"), std::string::npos);
}

TEST(TextWriter, WritesAsManyTokensAsFitWhereNoneAreGiven) {
  Writer writer;
  EXPECT_EQ(writer.write({"a"}, {}).at(0).tokens, 7);  // the mark before the text is one
  EXPECT_EQ(writer.write({"a"}, {.usual_tokens = 3}).at(0).tokens, 3);
}

TEST(TextWriter, RefusesAnEmptyPromptByItsNumber) {
  Writer writer;
  try {
    writer.write({"a", " "}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("prompt 2: it is empty"));
  }
}

}  // namespace
}  // namespace ddptrain
