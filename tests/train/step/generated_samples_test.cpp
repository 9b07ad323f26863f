// What weights generate, and that all ranks take part in it.
#include "train/step/generated_samples.h"

#include <gmock/gmock.h>

#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAre;

/// Writes the first weight of the model, and how many rounds it was called for.
class WeightAsText final : public SampleGenerator {
 public:
  explicit WeightAsText(Model& model) : model_(model) {}
  std::size_t rounds() const override { return 3; }
  void begin() override { rounds_ = 0; }
  void round() override { ++rounds_; }
  bool is_done() const override { return false; }
  GeneratedTexts end() override {
    const auto weight = model_.named_parameters().at(0).tensor.detach().flatten()[0].item<double>();
    return {{"", std::to_string(rounds_), std::to_string(weight), 0, ""}};
  }

 private:
  Model& model_;
  int rounds_ = 0;
};

std::vector<std::string> lines_of(const GeneratedTexts& texts) {
  std::vector<std::string> lines;
  for (const auto& each : texts)
    lines.push_back(each.weights + " " + each.prompt + " " + each.text);
  return lines;
}

void fill(Training& t, double value) {
  for (const auto& named : t.engine->model().named_parameters()) named.tensor.detach().fill_(value);
}

TEST(GeneratedSamples, AreOfTheWeightsAndOfTheirAverage) {
  auto world = single_world();
  auto t = small_training(world, {});
  WeightAsText generator(t.engine->model());
  fill(t, 1);
  t.recipe.train.ema.emplace();
  t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(), 0.5);
  EXPECT_THAT(lines_of(*generate_samples(t, generator, {}, {})), ElementsAre("valid 3 1.000000"));
  t.ema->update();
  fill(t, 2);
  EXPECT_THAT(lines_of(*generate_samples(t, generator, {}, {})),
              ElementsAre("valid 3 2.000000", "valid_ema 3 1.000000"));
  EXPECT_EQ(t.engine->model().named_parameters().at(0).tensor.detach().flatten()[0].item<double>(),
            2);
}

TEST(GeneratedSamples, AreWrittenByTheFirstRank) {
  play_all(3, [](World& world) {
    auto t = small_training(world, {.mode = Mode::ddp});
    fill(t, 1);
    WeightAsText generator(t.engine->model());
    int calls = 0;
    const auto found = generate_samples(t, generator, {}, [&] { ++calls; });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->size(), world.rank == 0 ? 1u : 0u);
    EXPECT_EQ(calls, 3);
  });
}

TEST(GeneratedSamples, AreLeftByAllRanksWhenOneIsAskedToStop) {
  play_all(2, [](World& world) {
    auto t = small_training(world, {.mode = Mode::ddp});
    WeightAsText generator(t.engine->model());
    EXPECT_FALSE(generate_samples(t, generator, [&] { return world.rank == 1; }, {}));
  });
}

}  // namespace
}  // namespace ddptrain
