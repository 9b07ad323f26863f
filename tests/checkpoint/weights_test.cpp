#include "checkpoint/weights.h"

#include <ATen/ATen.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "support/where.h"
#include "tensors.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;

struct Weights : testing::Test {
  std::vector<NamedTensor> live{{"stem.weight", at::zeros({2, 3})},
                                {"stem.num_batches_tracked", at::zeros({}, at::kLong)},
                                {"fc.weight", at::zeros({5, 2})},
                                {"fc.bias", at::zeros({5})}};
};

TEST_F(Weights, OfTheSameNamesAndShapesAreTaken) {
  const auto fit = take_weights(
      {{"fc.bias", ramp({5})}, {"stem.weight", ramp({2, 3})}, {"fc.weight", ramp({5, 2})}}, live,
      "fc");
  EXPECT_EQ(fit.taken, (Names{"stem.weight", "fc.weight", "fc.bias"}));
  EXPECT_EQ(misfit(fit), "");
  EXPECT_TRUE(at::equal(live[0].tensor, ramp({2, 3})));
  EXPECT_TRUE(at::equal(live[3].tensor, ramp({5})));
}

TEST_F(Weights, AreConvertedToTheModelsType) {
  take_weights({{"stem.weight", ramp({2, 3}, at::kHalf)}}, live, "fc");
  EXPECT_TRUE(at::equal(live[0].tensor, ramp({2, 3})));
}

TEST_F(Weights, OfALastLayerWithOtherClassesAreLeftOut) {
  const auto fit = take_weights(
      {{"stem.weight", ramp({2, 3})}, {"fc.weight", ramp({7, 2})}, {"fc.bias", ramp({7})}}, live,
      "fc");
  EXPECT_EQ(fit.replaced, (Names{"'fc.weight'", "'fc.bias'"}));
  EXPECT_EQ(misfit(fit), "");
  EXPECT_EQ(live[3].tensor.sum().item<float>(), 0);
}

TEST_F(Weights, ThatDoNotFitAreNamed) {
  const auto fit = take_weights(
      {{"stem.weight", ramp({4, 3})}, {"head.weight", ramp({5, 2})}, {"fc.bias", ramp({5})}}, live,
      "fc");
  EXPECT_EQ(misfit(fit),
            "the file lacks 'fc.weight'; only the file has 'head.weight'; other shapes have "
            "'stem.weight' ([4, 3] "
            "there, [2, 3] here)");
}

TEST(WeightNames, TheLongestBeginningIsReplaced) {
  std::vector<NamedTensor> tensors{{"backbone.a", {}}, {"backbone.head.b", {}}, {"c", {}}};
  rename(tensors, {{"backbone.", ""}, {"backbone.head.", "fc."}});
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_EQ(tensors[1].name, "fc.b");
  EXPECT_EQ(tensors[2].name, "c");
}

TEST(WeightFiles, AreSafetensorsCheckpointsAndTorchFiles) {
  const TemporaryFolder folder;
  write_safetensors(folder / "model.safetensors", {{{"w", ramp({2})}}, {}});
  EXPECT_EQ(read_weights(folder / "model.safetensors").at(0).name, "w");
  EXPECT_EQ(read_weights(folder.path()).at(0).name, "w");
  const auto torch = test::in_source("tests/checkpoint/torch_files/zip.pth");
  EXPECT_EQ(read_weights(torch).at(0).name, "a.weight");
}

SavedWeights outputs_of(std::vector<std::string> classes) {
  return {{{"conv.w", ramp({3, 2})}, {"fc.w", ramp({3, 2})}, {"fc.b", ramp({3})}},
          std::move(classes)};
}

TEST(Outputs, FollowTheNamesOfTheirClasses) {
  auto saved = outputs_of({"10", "2", "1"});
  EXPECT_EQ(order_outputs(saved, {"1", "2", "10"}, "fc"), Outputs::reordered);
  EXPECT_TRUE(saved.tensors[0].tensor.equal(ramp({3, 2})));
  EXPECT_TRUE(saved.tensors[1].tensor.equal(ramp({3, 2}).flip(0)));
  EXPECT_TRUE(saved.tensors[2].tensor.equal(ramp({3}).flip(0)));
}

TEST(Outputs, OfTheSameClassesStay) {
  auto saved = outputs_of({"a", "b", "c"});
  EXPECT_EQ(order_outputs(saved, {"a", "b", "c"}, "fc"), Outputs::as_they_are);
  EXPECT_TRUE(saved.tensors[1].tensor.equal(ramp({3, 2})));
  EXPECT_EQ(order_outputs(saved = outputs_of({}), {"a", "b", "c"}, "fc"), Outputs::as_they_are);
}

TEST(Outputs, OfOtherClassesAreNotTakenForThese) {
  auto saved = outputs_of({"a", "b", "c"});
  EXPECT_EQ(order_outputs(saved, {"a", "b", "d"}, "fc"), Outputs::others);
  EXPECT_EQ(order_outputs(saved, {"a", "b"}, "fc"), Outputs::others);
}

TEST(WeightFiles, OfARunThatWasInterruptedEarlyAreNotThere) {
  const TemporaryFolder run;
  std::filesystem::create_directory(run / "checkpoints");
  EXPECT_THAT(
      [&] { read_saved_weights(run.path()); },
      testing::ThrowsMessage<Error>("no complete checkpoint in '" + (run / "checkpoints") + "'"));
}

TEST(WeightFiles, KnowTheClassesOfTheirCheckpointOrHeader) {
  const TemporaryFolder folder;
  write_safetensors(folder / "model.safetensors", {{{"w", ramp({2})}}, {}});
  EXPECT_TRUE(read_saved_weights(folder.path()).classes.empty());
  std::ofstream(folder / "state.json") << R"({"classes": ["b", "a"]})";
  EXPECT_EQ(read_saved_weights(folder.path()).classes, (std::vector<std::string>{"b", "a"}));
  write_safetensors(folder / "exported.safetensors",
                    {{{"w", ramp({2})}}, {{"classes", R"(["c"])"}}});
  EXPECT_EQ(read_saved_weights(folder / "exported.safetensors").classes,
            (std::vector<std::string>{"c"}));
}

using testing::HasSubstr;
using testing::ThrowsMessage;

at::Tensor floats(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).to(at::kFloat);
}

TEST(AverageWeights, IsTheMeanInDoubleAndKeepsTypes) {
  // In float32 1e8 + 1 loses the 1.
  const std::vector<std::vector<NamedTensor>> models{
      {{"w", floats({1e8, 1})}, {"seen", at::tensor(std::vector<std::int64_t>{3})}},
      {{"w", floats({1, 2})}, {"seen", at::tensor(std::vector<std::int64_t>{4})}},
      {{"w", floats({-1e8, 6})}, {"seen", at::tensor(std::vector<std::int64_t>{9})}}};
  const auto mean = average_weights(models, {"a", "b", "c"});
  ASSERT_EQ(mean.size(), 2U);
  EXPECT_EQ(mean[0].tensor.scalar_type(), at::kFloat);
  EXPECT_EQ(mean[0].tensor[0].item<float>(), static_cast<float>(1.0 / 3));
  EXPECT_EQ(mean[0].tensor[1].item<float>(), 3);
  EXPECT_EQ(mean[1].tensor[0].item<std::int64_t>(), 9);
  EXPECT_EQ(models[0][0].tensor[0].item<float>(), 1e8F);  // nothing was changed in place
}

TEST(AverageWeights, OfDoublesDoesNotChangeThem) {
  const std::vector<std::vector<NamedTensor>> models{{{"w", at::tensor(std::vector<double>{1})}},
                                                     {{"w", at::tensor(std::vector<double>{2})}}};
  EXPECT_EQ(average_weights(models, {"a", "b"})[0].tensor.item<double>(), 1.5);
  EXPECT_EQ(models[0][0].tensor.item<double>(), 1);
}

TEST(AverageWeights, RefusesModelsThatDiffer) {
  const NamedTensor w{"w", at::zeros({2})}, v{"v", at::zeros({2})};
  const auto average = [](const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
    average_weights({a, b}, {"a.safetensors", "b.safetensors"});
  };
  EXPECT_THAT(
      [&] {
        average({w, v}, {w});
      },
      ThrowsMessage<Error>(HasSubstr("'b.safetensors' cannot be averaged with "
                                     "'a.safetensors': it has no 'v'")));
  EXPECT_THAT(
      [&] {
        average({w}, {w, v});
      },
      ThrowsMessage<Error>(HasSubstr("'a.safetensors' cannot be averaged with "
                                     "'b.safetensors': it has no 'v'")));
  EXPECT_THAT(
      [&] {
        average({w}, {{"w", at::zeros({3})}});
      },
      ThrowsMessage<Error>(HasSubstr("'w' is [3] there and [2] here")));
}

}  // namespace
}  // namespace ddptrain
