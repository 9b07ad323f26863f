// What an evaluation finds, and that it does not depend on who computed it.
#include "train/step/evaluate.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAre;

std::vector<std::string> names_of(const NamedValues& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

SmallTraining scored(World& world, SmallRun run = {}) {
  run.mode = world.size > 1 ? Mode::ddp : Mode::none;
  auto t = small_training(world, run);
  t.metrics.push_back(catalog<Metric>().build(Choice<Metric>("accuracy"), MetricContext{}));
  return t;
}

void add_average(SmallTraining& t) {
  t.recipe.train.ema.emplace();
  t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(), 0.9);
}

// Batches of 4 of 23 samples: one rank has three, two have two, or six have one each.
TEST(Evaluation, IsTheSameToTheLastBitOnAnyNumberOfRanks) {
  SmallRun run;
  run.bad = {1, 20};
  Evaluation alone;
  play_all(1, [&](World& world) {
    auto t = scored(world, run);
    alone = evaluate(t);
  });
  EXPECT_THAT(names_of(alone.values), ElementsAre("valid/loss", "valid/accuracy"));
  EXPECT_EQ(alone.left_out, 2);
  for (const int ranks : {2, 3, 4, 7})
    play_all(ranks, [&](World& world) {
      auto t = scored(world, run);
      const auto found = evaluate(t);
      EXPECT_EQ(found.values, alone.values) << ranks;
      ASSERT_EQ(found.samples.size(), alone.samples.size()) << ranks;
      for (std::size_t i = 0; i < alone.samples.size(); ++i) {
        EXPECT_EQ(found.samples[i].index, alone.samples[i].index) << ranks;
        EXPECT_EQ(found.samples[i].predicted, alone.samples[i].predicted) << ranks;
      }
      EXPECT_EQ(found.left_out, 2);
    });
}

TEST(Evaluation, NamesTheScoresOfAverageAndTestTimeAugmentation) {
  auto world = single_world();
  auto t = scored(world);
  add_average(t);
  t.ema->update();
  t.recipe.eval.tta = TtaSpec{.n = 1};
  EXPECT_THAT(names_of(evaluate(t).values),
              ElementsAre("valid/loss", "valid/accuracy", "valid_tta/loss", "valid_tta/accuracy",
                          "valid_ema/loss", "valid_ema/accuracy", "valid_ema_tta/loss",
                          "valid_ema_tta/accuracy"));
}

TEST(Evaluation, OfAnAverageThatHasNotBegunIsThatOfTheModel) {
  auto world = single_world();
  auto t = scored(world);
  add_average(t);
  const auto values = evaluate(t).values;
  EXPECT_THAT(names_of(values),
              ElementsAre("valid/loss", "valid/accuracy", "valid_ema/loss", "valid_ema/accuracy"));
  EXPECT_EQ(values[2].second, values[0].second);
  EXPECT_EQ(values[3].second, values[1].second);
}

TEST(Evaluation, ScoresTheAverageAndPutsTheWeightsBack) {
  auto world = single_world();
  auto t = scored(world);
  add_average(t);
  t.ema->update();
  const auto before = evaluate(t).values;
  for (const auto& named : t.engine->model().named_parameters()) named.tensor.detach().zero_();
  const auto values = evaluate(t).values;
  EXPECT_EQ(values[2].second, before[0].second);        // the average is as it was
  EXPECT_NEAR(values[0].second, std::log(3.0), 1e-12);  // of three equal probabilities
  EXPECT_EQ(evaluate(t).values[0].second, values[0].second);
}

TEST(Evaluation, IsOnlyOfTheBatchesThatAreWanted) {
  auto world = single_world();
  auto t = scored(world);
  t.evaluation_batches = 1;
  const auto first = evaluate(t).values;
  SmallRun four;
  four.samples = 4;
  auto small = scored(world, four);
  EXPECT_EQ(first, evaluate(small).values);
}

// 6 batches; again for each pass, and all of it for the average.
TEST(Evaluation, CallsAsOftenAsItSays) {
  auto world = single_world();
  auto t = scored(world);
  std::int64_t calls = 0;
  const auto counted = [&] {
    calls = 0;
    evaluate(t, [&] { ++calls; });
    EXPECT_EQ(evaluation_calls(t), calls);
    return calls;
  };
  EXPECT_EQ(counted(), 6);
  t.recipe.eval.tta = TtaSpec{.n = 2};
  EXPECT_EQ(counted(), 18);
  add_average(t);
  t.ema->update();
  EXPECT_EQ(counted(), 36);
  t.evaluation_batches = 2;
  EXPECT_EQ(counted(), 12);
}

TEST(Evaluation, IsNothingWhereARankWasAskedToStop) {
  play_all(2, [](World& world) {
    auto t = scored(world);
    EXPECT_FALSE(evaluate_unless(t, [&] { return world.rank == 1; }));
  });
}

/// Reads a sample in its first pass and not in the others.
class ReadsOnce final : public Loader {
 public:
  explicit ReadsOnce(std::unique_ptr<Loader> loader) : loader_(std::move(loader)) {}
  void start(EpochPlan plan) override { loader_->start(std::move(plan)); }
  Batch next() override {
    auto batch = loader_->next();
    if (++batches_ == 2) batch.indices.pop_back();
    return batch;
  }

 private:
  std::unique_ptr<Loader> loader_;
  int batches_ = 0;
};

TEST(Evaluation, OfPassesThatSawOtherSamplesIsRefused) {
  auto world = single_world();
  auto t = scored(world);
  t.recipe.eval.tta = TtaSpec{.n = 1};
  t.valid_loader = std::make_unique<ReadsOnce>(std::move(t.valid_loader));
  try {
    evaluate(t);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_STREQ(error.what(),
                 "a held-out sample could be read in one pass of eval.tta and not in another; see "
                 "the warnings above, and leave it out of the data");
  }
}

}  // namespace
}  // namespace ddptrain
