// A run's model as a folder for transformers, and that folder as the start of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A GPT-2 that has learned to count, with the tokens of a tokenizer.json that begins texts by a
/// token and has one for unknown words.
class PublishedRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<Folder>();
    const std::vector<std::string> numbers{"one", "two", "three", "four", "five"};
    for (std::size_t i = 0; i < 20; ++i) {
      std::string text;
      for (std::size_t word = 0; word < 30; ++word) text += numbers[(i + word) % 5] + " ";
      write(*folder_ / "texts/train/" + std::to_string(i) + ".txt", text);
    }
    write(*folder_ / "tokenizer.json", tokenizer());
    write_recipe("count", "{type: gpt2, n_layer: 1, n_head: 2, n_embd: 32, n_positions: 64}",
                 "300 steps", "0.003");
    trained_ = run_in({"run", "count.yaml", "output.dir=runs"});
    exported_ = run_in({"export", "runs/count/001", "published", "--format", "huggingface"});
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    ASSERT_EQ(trained_.code, 0) << trained_.err;
    ASSERT_EQ(exported_.code, 0) << exported_.err;
  }

  static std::string tokenizer() {
    return read(test::in_source("tests/golden/tokenizers/llama2.json"));
  }
  static void write_recipe(const std::string& name, const std::string& model,
                           const std::string& duration, const std::string& lr) {
    write(
        *folder_ / name + ".yaml",
        "name: " + name +
            "\n"
            "data: {type: text_folder, root: texts, task: language_model, valid: {fraction: 0.2}, "
            "cache: cache, tokenizer: {type: bpe, file: tokenizer.json}, "
            "blocks: {layout: shuffled, length: 32, end: </s>}}\n"
            "model: " +
            model + "\noptimizer: {type: adam, lr: " + lr +
            "}\n"
            "batch: {global: 8}\n"
            "train: {duration: " +
            duration +
            ", threads: 1}\n"
            "parallel: {device: cpu}\n");
  }
  static Ended run_in(const std::vector<std::string>& words) {
    return end_to_end::run(words, folder_->path());
  }
  static std::string greedy(const std::string& run) {
    const auto ended = run_in({"generate", run, "one two", "--greedy", "--tokens", "20"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  static json published(const std::string& file) {
    return json::parse(read(*folder_ / "published/" + file));
  }

  static std::unique_ptr<Folder> folder_;
  static Ended trained_, exported_;
};
std::unique_ptr<Folder> PublishedRun::folder_;
Ended PublishedRun::trained_;
Ended PublishedRun::exported_;

// Ids of llama2.json: 0 <unk>, 1 <s>, 2 </s>.
TEST_F(PublishedRun, HasTheTokenizerAndWhereTextsBeginAndEnd) {
  EXPECT_THAT(exported_.err, HasSubstr("config.json, generation_config.json, tokenizer.json, "
                                       "tokenizer_config.json to published"));
  EXPECT_EQ(read(*folder_ / "published/tokenizer.json"), tokenizer());
  const json ends{1, 2};
  for (const auto* file : {"config.json", "generation_config.json"}) {
    EXPECT_EQ(published(file).at("bos_token_id"), 1) << file;
    EXPECT_EQ(published(file).at("eos_token_id"), ends) << file;
  }
  const auto tokens = json::parse(tokenizer()).at("model").at("vocab").size();
  EXPECT_EQ(published("config.json").at("vocab_size"), tokens);
  EXPECT_EQ(published("generation_config.json").at("suppress_tokens"), json{0});
  EXPECT_EQ(published("tokenizer_config.json").at("bos_token"), "<s>");
  EXPECT_EQ(published("tokenizer_config.json").at("tokenizer_class"), "PreTrainedTokenizerFast");
}

TEST_F(PublishedRun, StartsARunThatWritesTheSameTexts) {
  write_recipe("again", "{type: gpt2, weights: published}", "1 step", "0");
  const auto ended = run_in({"run", "again.yaml", "output.dir=runs"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(greedy("runs/count/001"), HasSubstr("three four five one"));
  EXPECT_EQ(greedy("runs/again/001"), greedy("runs/count/001"));
}

TEST_F(PublishedRun, NeedsTheTokenizerThatTheRunHad) {
  write(*folder_ / "other.json", read(test::in_source("tests/golden/tokenizers/gpt2.json")));
  const auto ended = run_in({"export", "runs/count/001", "other", "--format", "huggingface",
                             "--tokenizer", "other.json"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("data.tokenizer: it gives other tokens than the one that the "
                                   "model was trained with"));
  EXPECT_FALSE(exists(*folder_ / "other"));
}

TEST_F(PublishedRun, HasATokenizerOnlyAsAFolder) {
  const auto ended =
      run_in({"export", "runs/count/001", "count.safetensors", "--tokenizer", "tokenizer.json"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("add --format huggingface"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
