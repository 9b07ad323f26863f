// `checkpoint info|verify|diff|consolidate|prune`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

class CheckpointVerb : public testing::Test {
 protected:
  CheckpointVerb() {
    write(folder_ / "small.yaml", small_recipe());
    EXPECT_EQ(run({"run", "small.yaml", kSmallModel, "checkpoint={every: 4 steps, keep_last: 5}"},
                  folder_.path(), environment())
                  .code,
              0);
  }
  Ended checkpoint(std::vector<std::string> words) const {
    words.insert(words.begin(), "checkpoint");
    return run(words, folder_.path(), environment());
  }
  Folder folder_;
};

TEST_F(CheckpointVerb, SaysWhatIsThere) {
  const auto all = checkpoint({"info", "runs/small/001"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, testing::ContainsRegex("step-00000004 +4 +0 "));
  EXPECT_THAT(all.out, testing::ContainsRegex("step-00000008 +8 +1 "));
  const auto one = checkpoint({"info", "runs/small/001/checkpoints/step-00000004"});
  EXPECT_THAT(one.out, HasSubstr("model.safetensors"));
  EXPECT_THAT(one.out, testing::ContainsRegex("mode none, 1 rank, cpu"));
  const auto json = checkpoint({"info", "runs/small/001", "--format", "json"});
  EXPECT_THAT(json.out, HasSubstr("\"step\": 4"));
  EXPECT_EQ(checkpoint({"info", "nothing"}).code, 3);
  EXPECT_THAT(checkpoint({"inf", "runs/small/001"}).err, HasSubstr("did you mean 'info'"));
}

TEST_F(CheckpointVerb, FindsDamage) {
  EXPECT_EQ(checkpoint({"verify", "runs/small/001"}).code, 0);
  const auto file = folder_ / "runs/small/001/checkpoints/step-00000004/optimizer.safetensors";
  auto bytes = read(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write(file, bytes);
  const auto ended = checkpoint({"verify", "runs/small/001"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.out, HasSubstr("step-00000008: complete"));
  EXPECT_THAT(ended.err, HasSubstr("/optimizer.safetensors' is damaged"));
  EXPECT_THAT(ended.err, HasSubstr("1 of 2 checkpoints damaged"));
}

TEST_F(CheckpointVerb, ComparesAndConsolidates) {
  const std::string four = "runs/small/001/checkpoints/step-00000004";
  EXPECT_EQ(checkpoint({"diff", four, four}).code, 0);
  const auto other = checkpoint({"diff", four, "runs/small/001"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, testing::ContainsRegex("model: [0-9]+ tensors in both, [0-9]+ differ"));
  ASSERT_EQ(checkpoint({"consolidate", four, "w.safetensors"}).code, 0);
  EXPECT_EQ(checkpoint({"diff", four, "w.safetensors"}).code, 0);
}

TEST_F(CheckpointVerb, PrunesWhatIsNotKept) {
  EXPECT_EQ(checkpoint({"prune", "runs/small/001"}).code, 2)
      << "the number that stays has to be named";
  const auto ended = checkpoint({"prune", "runs/small/001", "--keep-last", "1"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "1 checkpoint left\n");
  EXPECT_FALSE(exists(folder_ / "runs/small/001/checkpoints/step-00000004"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
