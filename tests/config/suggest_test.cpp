// What an unknown key, component or word is answered with.
#include "config/suggest.h"

#include <gtest/gtest.h>

#include <array>

#include "config/yaml/reader.h"
#include "support/bare.h"

namespace ddptrain {

enum class Pace { one_step, two_step };
std::span<const std::string_view> names(Pace) {
  static constexpr std::array<std::string_view, 2> words{"one_step", "two_step"};
  return words;
}

namespace {

struct Sgd {
  double lr = 0.1;
  double momentum = 0;
  double weight_decay = 0;
  void fields(Fields& f) {
    f("lr", lr, {.doc = "Rate."});
    f("momentum", momentum, {.doc = "Momentum."});
    f("weight_decay", weight_decay, {.doc = "Decay."});
  }
};

struct Adam {
  double lr = 0.1;
  std::vector<double> betas;
  void fields(Fields& f) {
    f("lr", lr, {.doc = "Rate."});
    f("betas", betas, {.doc = "Betas."});
  }
};

struct TopK {
  std::int64_t k = 5;
  void fields(Fields& f) { f("k", k, {.doc = "How many."}); }
};

struct Average {
  double rate = 0.1;
  std::optional<double> lr;
  void fields(Fields& f) {
    f("rate", rate, {.doc = "Rate."});
    f("lr", lr, {.doc = "Rate."});
  }
};

struct Work {
  Duration duration = epochs(1);
  bool fast = false;
  Pace pace = Pace::one_step;
  std::optional<Average> average;
  std::vector<std::int64_t> sizes;
  void fields(Fields& f) {
    f("duration", duration, {.doc = "How long."});
    f("fast", fast, {.doc = "Fast."});
    f("pace", pace, {.doc = "Pace."});
    f("average", average, {.doc = "Average."});
    f("sizes", sizes, {.doc = "Sizes."});
  }
};

struct Period {
  Duration every = epochs(1);
  void fields(Fields& f) { f("every", every, {.doc = "How often."}); }
};

struct SmallRecipe {
  std::string name = "x";
  Choice<Optimizer> optimizer{"sgd"};
  Choice<Schedule> schedule{"constant"};
  std::vector<Choice<Metric>> metrics;
  Work train;
  Period eval;
  Period log;
  void fields(Fields& f) {
    f("name", name, {.doc = "Name."});
    f("optimizer", optimizer, {.doc = "Optimizer."});
    f("schedule", schedule, {.doc = "Schedule."});
    f("metrics", metrics, {.doc = "Metrics."});
    f("train", train, {.doc = "Train."});
    f("eval", eval, {.doc = "Eval."});
    f("log", log, {.doc = "Log."});
  }
};

using test::Bare;
using test::bare;

const Catalogs& catalogs() {
  static const Bare optimizer("optimizer", {bare<Sgd>("sgd"), bare<Adam>("adam")});
  static const Bare schedule("schedule", {bare<NoOptions>("constant"), bare<NoOptions>("cosine")});
  static const Bare metric("metric", {bare<TopK>("top_k"), bare<NoOptions>("accuracy")});
  static const Catalogs all{
      {"optimizer", &optimizer}, {"schedule", &schedule}, {"metric", &metric}};
  return all;
}

/// "path: message" of each problem.
std::vector<std::string> message_of(const std::string& text) {
  const auto read = read_yaml(text, "a.yaml");
  EXPECT_TRUE(read.problems.empty()) << render(read.problems);
  std::vector<std::string> lines;
  for (const auto& p : check(read.tree, shape_of<SmallRecipe>(), catalogs()))
    lines.push_back((p.path.empty() ? "" : p.path + ": ") + p.message);
  return lines;
}

std::string only(const std::string& text) {
  const auto lines = message_of(text);
  EXPECT_EQ(lines.size(), 1u) << text << testing::PrintToString(lines);
  return lines.empty() ? "nothing" : lines[0];
}

TEST(NearestNames, CaseHyphensAndSwapsCountLittle) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearest_names("Weight-Decay", {"momentum", "weight_decay"}), Names{"weight_decay"});
  EXPECT_EQ(nearest_names("wieght_decay", {"momentum", "weight_decay"}), Names{"weight_decay"});
  EXPECT_EQ(nearest_names("mx", {"max", "mix", "top"}), (Names{"max", "mix"}));
  EXPECT_EQ(nearest_names("color", {"lr", "momentum"}), Names{});
  EXPECT_EQ(nearest_names(std::string(1 << 20, 'x'), {"lr"}), Names{});
}

TEST(Suggestion, TheRightKeyInTheWrongSectionIsFound) {
  EXPECT_EQ(only("lr: 0.1\n"), "'lr' is not a key of a recipe; did you mean 'optimizer.lr'?");
  EXPECT_EQ(only("optimizer: sgd\nmomentum: 0.9\n"),
            "'momentum' is not a key of a recipe; did you mean 'optimizer.momentum'?");
  EXPECT_EQ(only("train: {lr: 0.1}\n"),
            "train: 'lr' is not an option of 'train'; did you mean 'optimizer.lr'?");
  EXPECT_EQ(only("train: {average: {}, lr: 0.1}\n"),
            "train: 'lr' is not an option of 'train'; did you mean 'train.average.lr'?");
  EXPECT_EQ(only("optimizer: {type: sgd, duration: 5 epochs}\n"),
            "optimizer: 'duration' is not an option of 'sgd'; did you mean 'train.duration'?");
  EXPECT_EQ(only("train: {name: y}\n"),
            "train: 'name' is not an option of 'train'; did you mean 'name'?");
  EXPECT_EQ(only("every: 1 epoch\n"),
            "'every' is not a key of a recipe; did you mean 'eval.every' or 'log.every'?");
  EXPECT_EQ(only("k: 3\n"),
            "'k' is not a key of a recipe; did you mean 'k' of 'top_k' in 'metrics'?");
}

TEST(Suggestion, AMisspelledKeyOfAnotherSectionIsFound) {
  EXPECT_EQ(only("momentm: 0.9\n"),
            "'momentm' is not a key of a recipe; did you mean 'optimizer.momentum'?");
}

TEST(Suggestion, AnOptionOfAnotherComponentSaysWhose) {
  EXPECT_EQ(only("optimizer: {type: sgd, betas: [0.9]}\n"),
            "optimizer: 'betas' is an option of 'adam', not of 'sgd'");
  EXPECT_EQ(only("optimizer: {type: adam, weight_decy: 0.1}\n"),
            "optimizer: 'weight_decy' is not an option of 'adam'; 'weight_decay' is one of 'sgd'");
}

TEST(Suggestion, ASlipOfTheHandComesBeforeAnotherPlace) {
  EXPECT_EQ(only("optimizer: {type: adam, beta: [0.9]}\n"),
            "optimizer: 'beta' is not an option of 'adam'; did you mean 'betas'?");
  EXPECT_EQ(only("train: {Fast: true}\n"),
            "train: 'Fast' is not an option of 'train'; did you mean 'fast'?");
  EXPECT_EQ(only("metrics: [{type: top_k, kk: 3}]\n"),
            "metrics[0]: 'kk' is not an option of 'top_k'; did you mean 'k'?");
}

TEST(Suggestion, APartOfANameIsThatName) {
  EXPECT_EQ(only("optimizer: {type: sgd, decay: 0.1}\n"),
            "optimizer: 'decay' is not an option of 'sgd'; did you mean 'weight_decay'?");
  EXPECT_EQ(only("optimizer: {type: sgd, momentum: 0.5, weight: 0.1}\n"),
            "optimizer: 'weight' is not an option of 'sgd'; did you mean 'weight_decay'?");
}

TEST(Suggestion, AMisspelledKeyIsNotSoughtInOtherSections) {
  EXPECT_EQ(only("log: {pase: one_step}\n"),
            "log: 'pase' is not an option of 'log'; its options are every");
}

TEST(Suggestion, TheValueDecidesBetweenKeys) {
  EXPECT_EQ(only("train: {rate: 0.5}\n"),
            "train: 'rate' is not an option of 'train'; did you mean 'train.average.rate'?");
  EXPECT_EQ(only("train: {pase: two_step}\n"),
            "train: 'pase' is not an option of 'train'; did you mean 'pace'?");
}

TEST(Suggestion, TheWordsOfTheLanguageItself) {
  EXPECT_EQ(only("extend: a.yaml\n"), "'extend' is not a key of a recipe; did you mean 'extends'?");
  EXPECT_EQ(only("optimizer: {tpye: sgd}\n"),
            "optimizer: 'tpye' is not an option of an optimizer; did you mean 'type'?");
}

TEST(Suggestion, ComponentsAndWords) {
  EXPECT_EQ(only("optimizer: adm\n"), "optimizer: 'adm' is not an optimizer; did you mean 'adam'?");
  EXPECT_EQ(only("optimizer: {type: SGD}\n"),
            "optimizer: 'SGD' is not an optimizer; did you mean 'sgd'?");
  EXPECT_EQ(only("schedule: adam\n"), "schedule: 'adam' is an optimizer, not a schedule");
  EXPECT_EQ(only("schedule: CosineAnnealingLR\n"),
            "schedule: 'CosineAnnealingLR' is not a schedule; did you mean 'cosine'?");
  EXPECT_EQ(only("optimizer: type:sgd\n"),
            "optimizer: 'type:sgd' is not an optimizer; a space is missing after the ':'");
  EXPECT_EQ(only("train: {pace: Two-Step}\n"),
            "train.pace: 'Two-Step' is not one of one_step, two_step; did you mean 'two_step'?");
  EXPECT_EQ(only("train: {average: none}\n"),
            "train.average: 'none' is not a map of options; write null for none");
}

TEST(Suggestion, TypesSayWhatWasExpected) {
  EXPECT_EQ(only("train: [1]\n"), "train: this is a list; a map was expected");
  EXPECT_EQ(only("name: {a: 1}\n"), "name: this is a map; text was expected");
  EXPECT_EQ(only("metrics: {type: top_k}\n"), "metrics: this is a map; a list was expected");
  EXPECT_EQ(only("train: {fast: [true]}\n"),
            "train.fast: this is a list; true or false was expected");
  EXPECT_EQ(only("train: {sizes: [[1]]}\n"),
            "train.sizes[0]: this is a list; an integer was expected");
  EXPECT_EQ(only("optimizer: [sgd]\n"),
            "optimizer: this is a list; an optimizer, {type: ...} with its options, was expected");
  EXPECT_EQ(only("optimizer: {type: [sgd]}\n"),
            "optimizer: this is a list; the name of an optimizer was expected");
}

TEST(Suggestion, ASectionOfAnotherToolIsReadKeyByKey) {
  EXPECT_EQ(message_of("trainer: {max_epochs: 5, learning_rate: 0.1, momentum: 0.9, zzz: 1}\n"),
            (std::vector<std::string>{
                "'trainer' is not a key of a recipe; here it is 'train'",
                "trainer: 'max_epochs' is not an option of 'trainer'; here it is "
                "'train.duration', as in '5 epochs'",
                "trainer: 'learning_rate' is not an option of 'trainer'; here it is "
                "'optimizer.lr'",
                "trainer: 'momentum' is not an option of 'trainer'; did you mean "
                "'optimizer.momentum'?"}));
}

TEST(Suggestion, TooManyProblemsEndTheCheck) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  const auto lines = message_of(text);
  EXPECT_EQ(lines.size(), 201u);
  EXPECT_EQ(lines.back(), "200 problems so far; the rest is not shown");
}

}  // namespace
}  // namespace ddptrain
