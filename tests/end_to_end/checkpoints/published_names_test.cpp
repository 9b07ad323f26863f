// export --names and weights under other libraries' names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/checkpoints/weights_of_runs.h"
#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

const std::string kVit =
    "{type: vit, patch_size: 8, num_layers: 2, num_heads: 2, hidden_dim: 16, mlp_dim: 24";

class PublishedNames : public testing::Test {
 protected:
  PublishedNames() {
    write(folder_ / "small.yaml", small_recipe());
    const auto first = train({"model=" + kVit + "}", "train.duration=2 steps"});
    EXPECT_EQ(first.code, 0) << first.err;
  }
  Ended train(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"run", "small.yaml"});
    return run(overrides, folder_.path(), {{"SHAPES", shapes()}});
  }
  Ended exported(const std::string& file, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"export", "runs/small/latest", file});
    return run(flags, folder_.path());
  }
  const Folder folder_;
};

TEST_F(PublishedNames, GoToTimmAndBack) {
  const auto written = exported("timm.safetensors", {"--names", "timm"});
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(read(folder_ / "timm.safetensors"), HasSubstr("blocks.1.attn.qkv.weight"));
  ASSERT_EQ(exported("own.safetensors", {}).code, 0);
  // The same scores by both files, from another run's checkpoint.
  const auto loss = [&](const std::string& file) {
    const auto out = run({"eval", "runs/small/latest", "--weights", file}, folder_.path(),
                         {{"SHAPES", shapes()}})
                         .out;
    const auto at = out.find("loss");
    EXPECT_NE(at, std::string::npos) << out;
    return at == std::string::npos ? "" : out.substr(at, out.find('\n', at) - at);
  };
  EXPECT_EQ(loss("timm.safetensors"), loss("own.safetensors"));
  const auto second = train({"model=" + kVit + ", weights: timm.safetensors}",
                             "train.duration=1 step", "optimizer.lr=1e-40", "seed=9"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("the weights have the names of timm"));
  EXPECT_EQ(weights_of(folder_ / "runs/small/001"), weights_of(folder_ / "runs/small/002"));
}

TEST_F(PublishedNames, StartABodyOfImagesOfAnotherSize) {
  ASSERT_EQ(exported("timm.safetensors", {"--names", "timm"}).code, 0);
  const auto learner =
      train({"model={type: vision_learner, body: " + kVit + "}, weights: timm.safetensors}",
             "data.transforms.train=[{type: resize, size: 48}, {type: normalize, "
             "preset: imagenet}]",
             "data.transforms.valid=[{type: resize, size: 48}, {type: normalize, "
             "preset: imagenet}]",
             "train.duration=1 step"});
  ASSERT_EQ(learner.code, 0) << learner.err;
  EXPECT_THAT(learner.err, HasSubstr("positions are resampled from 4 x 4 to 6 x 6 patches"));
}

TEST_F(PublishedNames, OfOtherNetworksAreRefused) {
  ASSERT_EQ(exported("timm.safetensors", {"--names", "timm"}).code, 0);
  const auto other =
      train({"model={type: convnext_tiny, weights: timm.safetensors}", "train.duration=1 step"});
  EXPECT_EQ(other.code, 3) << other.err;
  EXPECT_THAT(other.err, HasSubstr("the names of torchvision and timm were tried"));
  const auto graph = exported("model.onnx", {"--names", "timm"});
  EXPECT_EQ(graph.code, 2) << graph.err;
  EXPECT_EQ(graph.err,
            "error: --names is of weights, and a graph has none; write FILE.safetensors\n");
  const auto word = exported("a.safetensors", {"--names", "fastai"});
  EXPECT_EQ(word.code, 2) << word.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
