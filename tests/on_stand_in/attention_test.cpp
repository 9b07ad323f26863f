// Which attention LibTorch runs on an H100 in bf16. That of cuDNN builds a plan for each shape; the
// stand-in has none, so that a run which chooses it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "on_stand_in/stand_in_run.h"

namespace ddptrain::end_to_end {
namespace {

/// Batches of four texts, in the order of the file.
constexpr const char* kManyTexts = R"(recipe: 1
name: texts
model: {type: text_transformer, dim: 256, num_layers: 1, num_heads: 2, dropout: 0}
data: {type: text_csv, file: train.csv, valid_file: train.csv, vocabulary: {min_freq: 1}, sampler: sequential}
batch: {global: 4}
train: {duration: 1 epoch, precision: bf16}
loss: {type: cross_entropy}
optimizer: {type: adamw, lr: 1e-3}
schedule: {type: constant}
log: {every: 1 step}
)";

constexpr const char* kTinyGpt2 = R"(recipe: 1
name: gpt2
model: {type: gpt2, n_layer: 2, n_head: 2, n_embd: 128, n_positions: 16, attn_pdrop: 0}
data:
  type: text_folder
  root: texts
  task: language_model
  valid: valid
  vocabulary: {min_freq: 1}
  blocks: {layout: shuffled, length: 16}
batch: {global: 4}
train: {duration: 6 steps, precision: bf16}
loss: {type: cross_entropy}
optimizer: {type: adamw, lr: 1e-3}
eval: {every: 100 steps}
log: {every: 1 step}
)";

class AttentionOnTheStandIn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
  }

  void write_texts(const std::vector<int>& lengths) const {
    for (const std::string split : {"train", "valid"}) {
      std::filesystem::create_directories((folder_ / "texts/") + split);
      for (std::size_t i = 0; i < lengths.size(); ++i)
        write((folder_ / "texts/") + split + "/" + std::to_string(i) + ".txt", words(lengths[i]));
    }
  }
  static std::string words(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += i % 2 == 0 ? "yes " : "no ";
    return text;
  }

  StandInRun run(const std::string& recipe, const std::vector<std::string>& more) const {
    write(folder_ / "recipe.yaml", recipe);
    std::vector<std::string> words{"run", folder_ / "recipe.yaml", "parallel.device=cuda",
                                   "output.dir=" + (folder_ / "runs")};
    words.insert(words.end(), more.begin(), more.end());
    auto run = on_stand_in(words, 1);
    EXPECT_EQ(run.faults, "");
    return run;
  }

  const Folder folder_;
};

TEST_F(AttentionOnTheStandIn, OfBlocksOfOneLengthIsCudnns) {
  write_texts({400, 300});
  const auto ended = run(kTinyGpt2, {"data.root=" + (folder_ / "texts")}).ended;
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, testing::HasSubstr("cuDNN Frontend error: [cudnn_frontend] Error: No "
                                            "execution plans support the graph."));
}

TEST_F(AttentionOnTheStandIn, OfDocumentsIsNot) {
  write_texts({3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 9, 10, 11, 12, 13, 14, 15});
  const auto ended =
      run(kTinyGpt2, {"data.root=" + (folder_ / "texts"), "data.blocks.layout=packed"}).ended;
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(AttentionOnTheStandIn, OfTextsIsNot) {
  std::string rows = "text,label\n";
  for (const int length : {5, 20, 40, 60, 80, 100})
    for (int row = 0; row < 4; ++row) rows += words(length) + (row % 2 == 0 ? ",good\n" : ",bad\n");
  write(folder_ / "train.csv", rows);
  const auto ended = run(kManyTexts, {"data.file=" + (folder_ / "train.csv"),
                                      "data.valid_file=" + (folder_ / "train.csv")})
                         .ended;
  EXPECT_EQ(ended.code, 0) << ended.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
