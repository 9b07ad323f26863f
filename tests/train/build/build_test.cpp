// A run built from its plan, on a small table.
#include "train/build/build.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "data/dataset.h"
#include "recipe/load/load.h"
#include "support/temporary_folder.h"
#include "support/training_parts.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

using testing::IsEmpty;

/// 20 rows, of which 16 train; 4 steps of 4 to an epoch.
class BuiltRun : public testing::Test {
 protected:
  BuiltRun() {
    std::string rows = "size,price\n";
    for (int i = 1; i <= 20; ++i) rows += std::to_string(i) + "," + std::to_string(3 * i) + ".5\n";
    folder_.write("houses.csv", rows);
    folder_.write("recipe.yaml",
                  "recipe: 1\n"
                  "model: {type: tabular, layers: [8]}\n"
                  "data: {type: csv_table, file: houses.csv, target: price, task: regression,\n"
                  "       valid: {fraction: 0.2}}\n"
                  "batch: {global: 4}\n"
                  "train: {duration: 10 epochs}\n"
                  "loss: {type: mse}\n"
                  "metrics: [mae]\n"
                  "schedule: {type: one_cycle}\n"
                  "parallel: {device: cpu}\n");
  }

  TrainingPlan plan(const std::vector<std::string>& overrides = {}) const {
    const auto loaded = load_recipe({folder_ / "recipe.yaml"}, overrides, all_catalogs());
    for (const auto& problem : loaded.problems) throw Error(Exit::recipe, problem.message);
    const auto placement = place(loaded.recipe, {}, {.gpus = 0, .cores = 4});
    return {resolved(loaded.recipe, placement), placement};
  }

  const TemporaryFolder folder_;
  World world_ = single_world();
};

TEST_F(BuiltRun, IsAsLongAsItsRecipeSays) {
  const auto t = build(plan(), world_);
  EXPECT_EQ(t->length.per_epoch, 4);
  EXPECT_EQ(t->length.total, 40);
  EXPECT_EQ(t->length.global, 4);
  EXPECT_EQ(t->metrics.size(), 2U);  // and the loss
}

TEST_F(BuiltRun, HasFullBatchesToTrain) {
  try {
    build(plan({"batch.global=17"}), world_);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_EQ(error.message(),
              "an epoch has no full batch: 16 training samples, and batch.global is 17; make "
              "the batch smaller, or write 'drop_last: false'");
  }
  EXPECT_EQ(
      build(plan({"batch.global=17", "data.loader.drop_last=false"}), world_)->length.per_epoch, 1);
}

TEST_F(BuiltRun, EndsEarlyOnTheScheduleOfTheWholeRun) {
  auto shorter = plan();
  shorter.most_steps = 1;
  shorter.evaluation_batches = 1;
  const auto t = build(shorter, world_), whole = build(plan(), world_);
  EXPECT_EQ(t->length.total, 1);
  EXPECT_EQ(t->evaluation_batches, 1U);
  EXPECT_EQ(t->stages.front().steps, 40);
  EXPECT_EQ(rates_of(*t, {}).lr, rates_of(*whole, {}).lr);
}

// The rate of step s is start * (end / start)^(s / steps).
TEST_F(BuiltRun, GoesAtTheRatesOfTheFinder) {
  auto finder = plan({"optimizer={type: adamw, lr: {from: 1e-4, to: 1e-3}}",
                      "model.layer_groups=[['bn_cont.*'], ['layers.*']]"});
  finder.lr_finder = LrFindOptions{.start = 1e-4, .end = 1, .steps = 4};
  const auto t = build(finder, world_);
  RunState state;
  state.position.step = 3;
  const auto rates = rates_of(*t, state);
  EXPECT_DOUBLE_EQ(rates.lr, 0.1);
  EXPECT_THAT(rates.shares, IsEmpty());
}

// A network of eight units is not worth a parallel region.
TEST_F(BuiltRun, TriesSizesWhereItIsToAndWritesThemDown) {
  auto tried = plan();
  EXPECT_EQ(tried.placement.threads, 4);
  EXPECT_EQ(build(tried, world_)->placement.threads, 4);
  tried.tries_sizes = true;
  const auto t = build(tried, world_);
  EXPECT_EQ(t->placement.threads, 1);
  EXPECT_EQ(t->recipe.train.threads.value, 1);
  EXPECT_EQ(t->recipe.batch.micro.value, 4);
}

TEST_F(BuiltRun, HasTheAverageThatItsRecipeAsksFor) {
  EXPECT_FALSE(build(plan(), world_)->ema);
  EXPECT_TRUE(build(plan({"train.ema={decay: 0.9}"}), world_)->ema);
  EXPECT_TRUE(build(plan({"train.swa={start: 50%}"}), world_)->ema);
}

// Sizes far from those of the training rows.
TEST_F(BuiltRun, FitsNothingOnWhatIsOnlyScored) {
  folder_.write("far.csv", "size,price\n900,1.5\n1500,2.5\n1900,3.5\n2900,4.5\n");
  const auto t =
      build(plan({"eval.splits.far={file: " + folder_ / "far.csv" + ", valid: {fraction: 0.5}}",
                  "eval.test={valid: {fraction: 0.5}}"}),
            world_);
  ASSERT_EQ(t->splits.size(), 1U);
  ASSERT_EQ(t->test.size(), 1U);
  EXPECT_EQ(t->splits[0].name, "far");
  EXPECT_EQ(t->splits[0].data->size(Split::valid), 2);
  EXPECT_EQ(t->test[0].data->size(Split::valid), 10);
  EXPECT_FALSE(t->data->state().empty());
  EXPECT_EQ(t->splits[0].data->state(), t->data->state());
  EXPECT_EQ(t->test[0].data->state(), t->data->state());
}

TEST_F(BuiltRun, NamesTheSplitWhoseTargetsAreOthers) {
  folder_.write("words.csv", "size,price\n1,much\n2,little\n3,much\n4,little\n");
  try {
    build(plan({"eval.splits.words.file=" + folder_ / "words.csv"}), world_);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_EQ(error.option(), "eval.splits.words");
  }
}

TEST_F(BuiltRun, NamesTheOptionOfASplitWhoseFileIsNotThere) {
  try {
    build(plan({"eval.test.file=nothing.csv"}), world_);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_EQ(error.option(), "eval.test.file");
  }
}

}  // namespace
}  // namespace ddptrain
