#include "data/image/progressive.h"

#include <gmock/gmock.h>

#include "data/image_data.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;

SizeStage until(const Duration& when, std::int64_t size = 8) { return {when, size}; }

Duration share(double of) { return {of, Duration::Unit::share}; }

std::string refusal(const std::vector<SizeStage>& stages, std::optional<double> run) {
  try {
    stage_ends(stages, run);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "none";
}

TEST(Progressive, EndsStagesWithWholeEpochs) {
  using Ends = std::vector<std::int64_t>;
  EXPECT_EQ(stage_ends({until(epochs(2)), until(share(0.75))}, 10), (Ends{2, 8}));
  EXPECT_EQ(stage_ends({until(share(0.4)), until(share(0.7))}, 5), (Ends{2, 4}));
  EXPECT_EQ(stage_ends({until(epochs(3))}, {}), (Ends{3}));
}

TEST(Progressive, RefusesStagesThatCannotBe) {
  const std::string option = "data.transforms.progressive: ";
  EXPECT_EQ(refusal({until(share(0.5))}, {}),
            option +
                "'50 %' is a share of a run that is not measured in epochs; write "
                "'until: 3 epochs'");
  EXPECT_EQ(refusal({until(steps(100))}, 5),
            option + "'100 steps' is no number of epochs and no share of the run");
  EXPECT_EQ(refusal({until(epochs(2)), until(epochs(2), 16)}, 5),
            option +
                "nothing is left for 'until: 2 epochs', size 16: it ends with the epoch in "
                "which it would begin");
  EXPECT_EQ(refusal({until(share(0.01))}, 5),
            option +
                "nothing is left for 'until: 1 %', size 8: it ends with the epoch in which "
                "it would begin");
}

json progressive_section(const TemporaryFolder& folder, const json& train) {
  folder.write("train/cat/a.png", image("a_rgb.png"));
  folder.write("train/dog/a.png", image("a_grey.jpg"));
  folder.write("valid/dog/a.png", image("a_rgb.jpg"));
  const json valid = json::array({{{"type", "fastai_resize"}, {"size", 32}}});
  const json stages =
      json::array({{{"until", "1 epochs"}, {"size", 16}}, {{"until", "50 %"}, {"size", 20}}});
  return {{"type", "image_folder"},
          {"root", folder.path()},
          {"transforms", {{"train", train}, {"valid", valid}, {"progressive", stages}}}};
}

at::IntArrayRef shape(const Batch& batch) { return batch.inputs.at(0).sizes().slice(1); }

TEST(Progressive, GivesTheSizeOfTheEpoch) {
  const TemporaryFolder folder;
  const json train = json::array({{{"type", "resize"}, {"size", {48, 40}}},
                                  {{"type", "random_crop"}, {"size", 32}},
                                  {{"type", "normalize"}, {"preset", "imagenet"}}});
  const auto data = build_data(progressive_section(folder, train), {.epochs = 8});
  EXPECT_EQ(data->changes_of_shape(), (std::vector<std::int64_t>{0, 1, 4}));
  EXPECT_EQ(data->facts().sample, (std::vector<std::int64_t>{3, 32, 32}));
  for (const auto& [epoch, side] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 16}, {1, 20}, {3, 20}, {4, 32}, {7, 32}}) {
    auto batch = data->allocate_train(epoch, 1);
    EXPECT_EQ(shape(batch), (at::IntArrayRef{3, side, side}));
    EXPECT_TRUE(data->load(Split::train, 0, {.epoch = epoch}, batch, 0));
  }
  auto valid = data->allocate(Split::valid, 1);
  EXPECT_EQ(shape(valid), (at::IntArrayRef{3, 32, 32}));
  EXPECT_TRUE(data->load(Split::valid, 0, {}, valid, 0));
}

TEST(Progressive, LeavesTestTimeAugmentationAtTheLastSize) {
  const TemporaryFolder folder;
  const json train = json::array({{{"type", "random_resized_crop"}, {"size", 24}}});
  const auto data = build_data(progressive_section(folder, train), {.epochs = 8});
  auto batch = data->allocate_train(1000, 2);
  EXPECT_EQ(shape(batch), (at::IntArrayRef{3, 24, 24}));
  for (std::int64_t pass : {1, 2})
    EXPECT_TRUE(data->load(Split::valid, 0, {.epoch = pass, .augment = true}, batch, pass - 1));
  EXPECT_FALSE(batch.inputs[0][0].equal(batch.inputs[0][1]));
}

TEST(Progressive, WantsATransformThatGivesASize) {
  const TemporaryFolder folder;
  const json train = json::array({{{"type", "horizontal_flip"}}});
  try {
    build_data(progressive_section(folder, train), {.epochs = 8});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    EXPECT_THAT(error.what(), HasSubstr("size 16 cannot be reached by scaling sizes"));
    EXPECT_THAT(error.what(), HasSubstr("images would be 90 x 120"));
  }
}

}  // namespace
}  // namespace ddptrain
