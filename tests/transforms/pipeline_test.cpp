#include "transforms/pipeline/pipeline.h"

#include <gmock/gmock.h>

#include <thread>

#include "images.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

std::vector<Choice<Transform>> steps(const nlohmann::json& list) {
  std::vector<Choice<Transform>> choices;
  for (const auto& item : list) choices.push_back(fragment<Transform>(item));
  return choices;
}

const nlohmann::json train = {{{"type", "random_resized_crop"}, {"size", 24}, {"scale", {0.3, 1}}},
                              {{"type", "horizontal_flip"}},
                              {{"type", "color_jitter"}, {"brightness", 0.3}},
                              {{"type", "normalize"}, {"preset", "imagenet"}}};
constexpr Extent expected{3, 24, 24};

std::vector<float> load(const Pipeline& pipeline, const AugmentKey& key,
                        const Extent& extent = expected) {
  const auto bytes = test::golden_file("a_rgb.jpg");
  std::vector<float> row(std::size_t(extent.channels) * extent.height * extent.width);
  pipeline.load({bytes, "a_rgb.jpg"}, key, extent, row.data());
  return row;
}

TEST(Pipeline, ASampleDependsOnItsKeyAlone) {
  const Pipeline pipeline(steps(train), {.mode = DecodeMode::fast});
  const auto first = load(pipeline, {7, 2, 5});
  load(pipeline, {7, 2, 6});
  EXPECT_EQ(load(pipeline, {7, 2, 5}), first);
  EXPECT_NE(load(pipeline, {7, 2, 6}), first);
  EXPECT_NE(load(pipeline, {7, 3, 5}), first);
  EXPECT_NE(load(pipeline, {8, 2, 5}), first);
}

TEST(Pipeline, ThreadsDoNotDisturbEachOther) {
  const Pipeline pipeline(steps(train), {.mode = DecodeMode::fast});
  std::vector<std::vector<float>> alone(16), together(16);
  for (int i = 0; i < 16; ++i) alone[i] = load(pipeline, {1, 0, i});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < 16; i += 4) together[i] = load(pipeline, {1, 0, i});
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(alone, together);
}

TEST(Pipeline, ChannelsLastHoldsTheSameValues) {
  const auto planes = load(Pipeline(steps(train)), {1, 0, 3});
  const auto pixels = load(Pipeline(steps(train), {.channels_last = true}), {1, 0, 3});
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 24 * 24; ++i) ASSERT_EQ(planes[c * 576 + i], pixels[i * 3 + c]);
}

TEST(Pipeline, FusedNormalizeEqualsNormalizeAsAStep) {
  auto fused = train, step = train;
  step.push_back({{"type", "horizontal_flip"}, {"p", 0}});  // so that normalize is not the last
  const auto a = load(Pipeline(steps(fused)), {1, 0, 3});
  const auto b = load(Pipeline(steps(step)), {1, 0, 3});
  EXPECT_EQ(a, b);
}

TEST(Pipeline, WithoutNormalizeBytesBecomeZeroToOne) {
  const Pipeline pipeline({});
  std::vector<float> row(12);
  pipeline.load(test::flat(2, 2, 255), "white", {}, {3, 2, 2}, row.data());
  EXPECT_EQ(row, std::vector<float>(12, 1.0F));
}

TEST(Pipeline, SaysItsOutputAheadWhereThatIsFixed) {
  const Pipeline pipeline(steps(train));
  EXPECT_EQ(pipeline.output(), expected);
  const Pipeline varying(steps({{{"type", "resize"}, {"size", 10}}}));
  EXPECT_FALSE(varying.output().fixed());
  EXPECT_EQ(varying.output({3, 20, 40}), (Extent{3, 10, 20}));
  EXPECT_EQ(Pipeline({}, {.channels = 1}).output({1, 28, 28}), (Extent{1, 28, 28}));
}

TEST(Pipeline, NamesAnImageOfAnotherSize) {
  const Pipeline pipeline({});
  EXPECT_THAT(
      test::message([&] {
        load(pipeline, {}, {3, 10, 10});
      }),
      HasSubstr("'a_rgb.jpg' is 3 x 90 x 120 after its transforms, other samples are 3 x 10 "
                "x 10"));
}

}  // namespace
}  // namespace ddptrain
