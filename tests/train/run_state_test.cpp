// Every field of a run's state survives a checkpoint.
#include "train/run_state.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/loop/completion.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::ElementsAreArray;
using StateJson = nlohmann::ordered_json;

/// Goes through `fields` to every value, with its path.
template <class Act>
class Walk {
 public:
  explicit Walk(Act act, std::string path = "") : act_(act), path_(std::move(path)) {}

  template <class T>
  void operator()(const char* key, T& member) {
    Walk inside(act_, path_of(key));
    if constexpr (requires { fields(member, inside); })
      fields(member, inside);
    else
      act_(path_of(key), member);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member) {
    act_(path_of(key), member);
    if (member) operator()(key, *member);
  }
  template <class T>
  void added(const char* key, T& member, const T&) {
    operator()(key, member);
  }
  template <class T>
  void unless_empty(const char* key, T& member) {
    operator()(key, member);
  }
  void embedded(const char*, std::string&) {}  // of the dataset

 private:
  std::string path_of(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

  Act act_;
  std::string path_;
};

/// Gives each value another one, no two the same.
struct Change {
  std::int64_t& last;
  void operator()(const std::string&, bool& value) { value = !value; }
  void operator()(const std::string&, std::int64_t& value) { value = ++last; }
  void operator()(const std::string&, double& value) { value = static_cast<double>(++last) + 0.5; }
  void operator()(const std::string&, std::string& value) {
    value = "text " + std::to_string(++last);
  }
  void operator()(const std::string&, NamedValues& values) {
    values = {{"valid/loss", static_cast<double>(++last)}, {"valid/accuracy", 0.25}};
  }
  template <class T>
  void operator()(const std::string&, std::vector<T>&) {}  // of the dataset and of callbacks
  template <class T>
  void operator()(const std::string&, std::optional<T>& value) {
    value.emplace();
  }
};

/// "position.step 3" for each value.
struct List {
  std::vector<std::string>& lines;
  void operator()(const std::string& path, const auto& value) {
    if constexpr (requires { nlohmann::json(value); })
      lines.push_back(path + " " + nlohmann::json(value).dump());
  }
  template <class T>
  void operator()(const std::string& path, const std::optional<T>& value) {
    if (!value) lines.push_back(path + " absent");
  }
};

std::vector<std::string> listed(SavedState state) {
  std::vector<std::string> lines;
  Walk walk(List{lines});
  fields(state, walk);
  return lines;
}

std::vector<std::string> listed(const RunState& state) {
  SavedState saved;
  put(state, saved);
  return listed(saved);
}

SavedState changed_file() {
  SavedState state;
  std::int64_t last = 1;
  Walk walk(Change{last});
  fields(state, walk);
  state.format = 0;  // that of a newer version is refused
  return state;
}

RunState changed() { return run_state_of(changed_file()); }

TEST(SavedState, HasAnotherValueInEveryFieldOfThisTest) {
  const auto defaults = listed(SavedState()), others = listed(changed_file());
  for (const auto& line : others) {
    if (line.ends_with(" []")) continue;  // of the dataset and of callbacks
    EXPECT_THAT(defaults, testing::Not(testing::Contains(line)));
  }
  EXPECT_EQ(others.size(), defaults.size() + 3);  // loss_scale, best and stop have two values each
}

TEST(SavedState, IsTheSameAfterItWasWrittenAndRead) {
  EXPECT_THAT(listed(saved_state_of(to_text(changed_file()))),
              ElementsAreArray(listed(changed_file())));
  EXPECT_THAT(listed(saved_state_of(to_text(SavedState()))),
              ElementsAreArray(listed(SavedState())));
}

TEST(SavedState, HasTheNamesOfTheDataAndTheStatesOfCallbacks) {
  SavedState state;
  state.names = {{"a", "b"}, {"price"}, R"({"words":["xxunk"],"mean":0.1})"};
  state.callbacks = {{"early_stopping", "{}"}, {"other", ""}};
  const auto read = saved_state_of(to_text(state));
  EXPECT_EQ(read.names, state.names);
  EXPECT_EQ(saved_names(to_text(state)), state.names);
  ASSERT_EQ(read.callbacks.size(), 2U);
  EXPECT_EQ(read.callbacks[0].type, "early_stopping");
  EXPECT_EQ(read.callbacks[0].state, "{}");
}

TEST(RunState, IsAllInWhatIsSaved) {
  const auto whole = changed_file();
  SavedState saved;
  put(run_state_of(whole), saved);
  saved.format = whole.format;
  saved.seed = whole.seed;
  saved.data = whole.data;
  saved.steps_per_epoch = whole.steps_per_epoch;
  saved.environment = whole.environment;
  EXPECT_THAT(listed(saved), ElementsAreArray(listed(whole)));
}

TEST(RunState, KeepsWhatIsNotANumber) {
  RunState state;
  state.position.train_loss = std::nan("");
  state.evaluation = {{"valid/f1", std::nan("")}, {"valid/loss", 0.5}};
  SavedState saved;
  put(state, saved);
  const auto read = run_state_of(saved_state_of(to_text(saved)));
  EXPECT_TRUE(std::isnan(read.position.train_loss));
  ASSERT_EQ(read.evaluation.size(), 2U);
  EXPECT_EQ(read.evaluation[0].first, "valid/f1");
  EXPECT_TRUE(std::isnan(read.evaluation[0].second));
  EXPECT_EQ(read.evaluation[1], std::pair(std::string("valid/loss"), 0.5));
}

/// Of the first versions, without the keys that came later.
const char* const kFirst = R"({
  "format": 1,
  "position": {"step": 12, "epoch": 1, "step_in_epoch": 2, "samples": 768, "evaluated": 10,
               "empty_steps": 1, "skipped_steps": 3},
  "seed": 42,
  "classes": ["a"],
  "data": "ab",
  "steps_per_epoch": 10,
  "nominal": 64.0,
  "lr_factor": 0.5,
  "loss_scale": {"scale": 1024.0, "finite_steps": 7},
  "best": {"value": 0.75, "step": 10},
  "stop": {"reason": "early_stopping: no better", "asked": "ab"},
  "evaluation": {"valid/loss": 0.5, "valid/accuracy": null},
  "callbacks": [],
  "surroundings": {"global": 64}
})";

TEST(RunState, IsReadFromACheckpointOfTheFirstVersions) {
  const auto state = run_state_of(saved_state_of(kFirst));
  EXPECT_EQ(state.position.step, 12);
  EXPECT_EQ(state.position.epoch, 1);
  EXPECT_EQ(state.position.step_in_epoch, 2);
  EXPECT_EQ(state.position.bad_in_epoch, 0);
  EXPECT_EQ(state.position.samples, 768);
  EXPECT_EQ(state.position.evaluated, 10);
  EXPECT_FALSE(state.position.evaluation_due);
  EXPECT_EQ(state.position.empty_steps, 1);
  EXPECT_EQ(state.position.skipped_steps, 3);
  EXPECT_TRUE(std::isnan(state.position.train_loss));
  EXPECT_TRUE(std::isnan(state.position.lr));
  EXPECT_EQ(state.position.seconds, 0);
  EXPECT_EQ(state.nominal, 64);
  EXPECT_EQ(state.lr_factor, 0.5);
  EXPECT_EQ(state.loss_scale.value().scale(), 1024);
  EXPECT_EQ(state.loss_scale.value().finite_steps(), 7);
  EXPECT_EQ(state.best.value().value, 0.75);
  EXPECT_EQ(state.best.value().step, 10);
  EXPECT_EQ(state.stop.value().reason, "early_stopping: no better");
  EXPECT_EQ(state.stop.value().asked, "ab");
  EXPECT_EQ(state.evaluation.at(0), std::pair(std::string("valid/loss"), 0.5));
}

TEST(RunState, RefusesACheckpointWithoutAKeyThatAllHave) {
  auto json = StateJson::parse(kFirst);
  json["position"].erase("samples");
  EXPECT_THROW(saved_state_of(json.dump()), Error);
}

std::vector<std::string> keys_of(const StateJson& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

TEST(StateJson, HasTheKeysOfTheFormatInTheirOrder) {
  auto world = single_world();
  auto t = small_training(world, {});
  EXPECT_THAT(keys_of(StateJson::parse(capture(t).state)),
              ElementsAre("format", "position", "seed", "classes", "data", "steps_per_epoch",
                          "nominal", "lr_factor", "evaluation", "callbacks", "surroundings"));
  t.state = changed();
  const auto json = StateJson::parse(capture(t).state);
  EXPECT_THAT(keys_of(json),
              ElementsAre("format", "position", "seed", "classes", "data", "steps_per_epoch",
                          "nominal", "lr_factor", "loss_scale", "best", "stop", "evaluation",
                          "callbacks", "surroundings"));
  EXPECT_THAT(
      keys_of(json["position"]),
      ElementsAre("step", "epoch", "step_in_epoch", "bad_in_epoch", "samples", "evaluated",
                  "evaluation_due", "empty_steps", "skipped_steps", "train_loss", "lr", "seconds"));
}

/// In half precision, with a best evaluation.
SmallTraining with_all_state(World& world) {
  auto t = small_training(world, {});
  t.recipe.train.precision = Precision::fp16;
  t.recipe.checkpoint.keep_best.emplace();
  return t;
}

TEST(RestoredRun, StandsWhereTheCheckpointWas) {
  auto world = single_world();
  auto t = with_all_state(world);
  t.state = changed();
  t.state.stop->asked = asked_length(t.recipe);
  auto resumed = with_all_state(world);
  restore(resumed, capture(t));
  EXPECT_THAT(listed(resumed.state), ElementsAreArray(listed(t.state)));
}

TEST(RestoredRun, HasNoStopOnceItIsAskedForMore) {
  auto world = single_world();
  auto t = with_all_state(world);
  t.state.stop = Stop{"enough", asked_length(t.recipe)};
  const auto checkpoint = capture(t);
  auto longer = with_all_state(world);
  longer.recipe.train.duration = epochs(9);
  restore(longer, checkpoint);
  EXPECT_FALSE(longer.state.stop);
  restore(t, checkpoint);
  EXPECT_EQ(t.state.stop.value().reason, "enough");
}

TEST(RestoredRun, HasOnlyWhatItsRecipeUses) {
  auto world = single_world();
  auto t = with_all_state(world);
  t.state = changed();
  auto plain = small_training(world, {});
  restore(plain, capture(t));
  EXPECT_FALSE(plain.state.loss_scale);
  EXPECT_FALSE(plain.state.best);
  auto half = with_all_state(world);
  restore(half, capture(plain));
  EXPECT_EQ(half.state.loss_scale.value().scale(), LossScale().scale());
}

TEST(RestoredRun, ScalesTheLossByTheConstantsOfItsRecipe) {
  auto world = single_world();
  auto t = with_all_state(world);
  t.recipe.train.loss_scale = LossScaleSpec{.init_scale = 8, .growth_interval = 2};
  t.state = first_state(t);
  EXPECT_EQ(t.state.loss_scale.value().scale(), 8);
  t.state.loss_scale->update(true);
  auto resumed = with_all_state(world);
  resumed.recipe = t.recipe;
  restore(resumed, capture(t));
  resumed.state.loss_scale->update(true);  // the second finite step
  EXPECT_EQ(resumed.state.loss_scale.value().scale(), 16);
}

/// Why a run cannot continue from a checkpoint of a small training.
std::string restore_refusal(const std::function<void(SmallTraining&)>& change) {
  auto world = single_world();
  auto t = small_training(world, {});
  const auto checkpoint = capture(t);
  change(t);
  try {
    restore(t, checkpoint);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "";
}

TEST(RestoredRun, OfOtherEpochsIsRefused) {
  EXPECT_EQ(restore_refusal([](SmallTraining& t) { t.length.per_epoch = 5; }),
            "the run cannot go on from this checkpoint: its epochs are 3 steps of 8 samples, and "
            "they would be 5 of 8 (batch.global, data)");
}

/// Other files, and other classes where they are given.
class OtherSamples final : public DrawnSamples {
 public:
  explicit OtherSamples(std::int64_t size, std::vector<std::string> classes = {"a", "b", "c"})
      : DrawnSamples(size, {}) {
    facts_.classes = std::move(classes);
  }
  const DataFacts& facts() const override { return facts_; }
  std::string digest() const override { return "other"; }

 private:
  DataFacts facts_;
};

TEST(RestoredRun, OfOtherClassesIsRefused) {
  EXPECT_EQ(restore_refusal([](SmallTraining& t) {
              t.data = std::make_unique<OtherSamples>(23, std::vector<std::string>{"a", "b"});
            }),
            "the run cannot go on from this checkpoint: it was trained on the classes [a, b, c], "
            "and the data has [a, b]");
  EXPECT_EQ(restore_refusal([](SmallTraining& t) { t.data = std::make_unique<OtherSamples>(2); }),
            "the run cannot go on from this checkpoint: it was trained on the classes [a, b, c], "
            "and the data has no training sample of [c]");
}

TEST(RestoredRun, OfOtherDataWithTheSameClassesContinues) {
  EXPECT_EQ(restore_refusal([](SmallTraining& t) { t.data = std::make_unique<OtherSamples>(23); }),
            "");
}

}  // namespace
}  // namespace ddptrain
