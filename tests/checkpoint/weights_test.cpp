#include "checkpoint/weights.h"

#include <ATen/ATen.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "support/processor_seconds.h"
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
      {"fc"});
  EXPECT_EQ(fit.taken, (Names{"stem.weight", "fc.weight", "fc.bias"}));
  EXPECT_EQ(misfit(fit), "");
  EXPECT_TRUE(at::equal(live[0].tensor, ramp({2, 3})));
  EXPECT_TRUE(at::equal(live[3].tensor, ramp({5})));
}

TEST_F(Weights, AreConvertedToTheModelsType) {
  take_weights({{"stem.weight", ramp({2, 3}, at::kHalf)}}, live, {"fc"});
  EXPECT_TRUE(at::equal(live[0].tensor, ramp({2, 3})));
}

TEST_F(Weights, OfALastLayerWithOtherClassesAreLeftOut) {
  const auto fit = take_weights(
      {{"stem.weight", ramp({2, 3})}, {"fc.weight", ramp({7, 2})}, {"fc.bias", ramp({7})}}, live,
      {"fc"});
  EXPECT_EQ(fit.replaced, (Names{"'fc.weight'", "'fc.bias'"}));
  EXPECT_EQ(misfit(fit), "");
  EXPECT_EQ(live[3].tensor.sum().item<float>(), 0);
}

TEST_F(Weights, ThatDoNotFitAreNamed) {
  const auto fit = take_weights(
      {{"stem.weight", ramp({4, 3})}, {"head.weight", ramp({5, 2})}, {"fc.bias", ramp({5})}}, live,
      {"fc"});
  EXPECT_EQ(misfit(fit),
            "the file lacks 'fc.weight'; only the file has 'head.weight'; other shapes have "
            "'stem.weight' ([4, 3] "
            "there, [2, 3] here)");
}

/// What `use` throws about a mapped file that is cut before, with its exit code. In a process of
/// its own: what was lost is lost.
void expect_refusal_of_a_cut_file(const std::function<void(const std::vector<NamedTensor>&)>& use) {
  const TemporaryFolder folder;
  const auto path = folder / "w.safetensors";
  write_safetensors(path, {{{"w", ramp({9000})}, {"n", ramp({9000}, at::kLong)}}, {}});
  const auto use_cut_file = [&] {
    const auto content = map_safetensors(path);
    std::filesystem::resize_file(path, 4096);
    try {
      use(content.tensors);
    } catch (const Error& error) {
      std::cerr << error.what() << std::endl;
      std::_Exit(static_cast<int>(error.code()));
    }
    std::_Exit(70);
  };
  EXPECT_EXIT(use_cut_file(), testing::ExitedWithCode(static_cast<int>(Exit::data)),
              "w.safetensors' was cut");
}

TEST(CutWeightsDeathTest, AreRefusedWhereTheyAreTaken) {
  expect_refusal_of_a_cut_file([](const std::vector<NamedTensor>& tensors) {
    take_weights(tensors, {{"w", at::zeros({9000})}, {"n", at::zeros({9000}, at::kLong)}}, {});
  });
}

TEST(CutWeightsDeathTest, AreRefusedWhereTheyAreAveraged) {
  expect_refusal_of_a_cut_file([](const std::vector<NamedTensor>& tensors) {
    average_weights({tensors, tensors}, {"a", "b"});
  });
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
  EXPECT_TRUE(read_saved_weights(folder.path()).names.classes.empty());
  std::ofstream(folder / "state.json") << R"({"classes": ["b", "a"]})";
  EXPECT_EQ(read_saved_weights(folder.path()).names.classes, (std::vector<std::string>{"b", "a"}));
  write_safetensors(folder / "exported.safetensors",
                    {{{"w", ramp({2})}}, {{"classes", R"(["c"])"}}});
  EXPECT_EQ(read_saved_weights(folder / "exported.safetensors").names.classes,
            (std::vector<std::string>{"c"}));
}

TEST(WeightFiles, KnowWhatTheirRowsStandFor) {
  const TemporaryFolder folder;
  write_safetensors(folder / "model.safetensors", {{{"w", ramp({2})}}, {}});
  std::ofstream(folder / "state.json")
      << R"({"classes": [], "targets": ["price"], "fitted": {"vocabulary": ["a", "b"]}})";
  const SavedNames names{{}, {"price"}, R"({"vocabulary":["a","b"]})"};
  EXPECT_EQ(read_saved_weights(folder.path()).names, names);
  write_safetensors(folder / "exported.safetensors", {{{"w", ramp({2})}}, header_of(names)});
  EXPECT_EQ(read_saved_weights(folder / "exported.safetensors").names, names);
}

// fastai.text.learner.clean_raw_keys
TEST(WeightNames, CopiesOfRawWeightsFallAway) {
  std::vector<NamedTensor> tensors{{"rnns.0.weight_hh_l0_raw", {}},
                                   {"rnns.0.module.weight_hh_l0", {}},
                                   {"rnns.0.module.weight_ih_l0", {}}};
  drop_raw_copies(tensors);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[1].name, "rnns.0.module.weight_ih_l0");
}

// Checkpoints of before tokens had codes.
TEST(OldWeights, LackCodesAndKeepTheFirstOnes) {
  const auto codes = at::tensor(std::vector<std::int64_t>{0, 1});
  const std::vector<NamedTensor> live{{"embedding.codes", codes}, {"w", at::zeros({2})}};
  restore({{"w", ramp({2})}}, live, "the model");
  EXPECT_TRUE(live[1].tensor.equal(ramp({2})));
  EXPECT_TRUE(codes.equal(at::tensor(std::vector<std::int64_t>{0, 1})));
  EXPECT_EQ(misfit(take_weights({{"w", ramp({2})}}, live, {})), "");
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

std::vector<NamedTensor> many(int count) {
  std::vector<NamedTensor> model;
  const auto one = at::ones({1});
  for (int i = 0; i < count; ++i) model.push_back({"layer." + std::to_string(i) + ".weight", one});
  return model;
}

// Eight times the tensors take eight times the time, and would take 64 times by a search for each.
TEST(AverageWeights, TakesTimeInProportionToTheTensors) {
  const auto seconds = [](int count) {
    const auto model = many(count);
    return processor_seconds([&] { average_weights({model, model}, {"a", "b"}); });
  };
  EXPECT_LT(seconds(32'000), 24 * seconds(4'000));
}

TEST_F(Weights, AreTakenInTimeInProportionToTheTensors) {
  const auto seconds = [](int count) {
    const auto saved = many(count), model = many(count);
    return processor_seconds([&] { take_weights(saved, model, {}); });
  };
  EXPECT_LT(seconds(32'000), 24 * seconds(4'000));
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
