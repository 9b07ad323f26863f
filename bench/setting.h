// What the programs of this folder share: a recipe from the command line and one step of it on a
// random batch.
#pragma once

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "distributed/engine.h"
#include "losses/loss.h"
#include "losses/rows.h"
#include "optim/groups.h"
#include "recipe/load/load.h"
#include "recipe/optimizer_options.h"
#include "recipe/targets.h"
#include "train/build/build.h"
#include "train/catalogs.h"
#include "train/placement.h"
#include "train/run/rank.h"

namespace ddptrain::bench {

struct Setting {
  Recipe recipe;  // resolved
  Placement placement;
  std::vector<std::int64_t> sample;  // shape of an input
};

/// RECIPE [key=value...]; ends the program where the recipe is wrong.
inline Setting load(std::vector<std::string> words) {
  const std::vector<std::string> overrides(words.begin() + 1, words.end());
  const auto loaded = load_recipe({words.at(0)}, overrides, all_catalogs());
  if (has_errors(loaded.problems)) {
    std::fputs(render(loaded.problems).c_str(), stderr);
    std::exit(2);
  }
  Setting setting;
  setting.placement = place(loaded.recipe, {});
  setting.recipe = resolved(loaded.recipe, setting.placement);
  const bool digits = setting.recipe.data.type() == "mnist";
  setting.sample =
      digits ? std::vector<std::int64_t>{1, 28, 28} : std::vector<std::int64_t>{3, 128, 128};
  return setting;
}

inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

/// Tokens in a sample, how many of them are learned, and words of the vocabulary, of language
/// models.
struct TokenSizes {
  std::int64_t length = 256;
  double learned = 1;  // share: the last ones of each sample
  std::int64_t vocabulary = 50257;
};

/// One training step of a recipe on a fixed random batch of `rows` images and ten classes, of each
/// image or of each pixel; or of tokens.
class Step {
 public:
  Step(const Setting& setting, World& world, std::int64_t rows, const TokenSizes& tokens = {})
      : rows_(rows), world_(world.size) {
    const auto target = written_target(setting.recipe, all_catalogs());
    if (target == TargetKind::tokens) {
      make_token_batch(tokens);
      build(setting, world, token_facts(tokens));
    } else {
      make_image_batch(setting.sample, target == TargetKind::masks, setting.recipe);
      build(setting, world, image_facts(setting.sample, target == TargetKind::masks));
    }
  }

  void operator()() {
    MicroStep at;
    at.step = steps_++;
    at.nominal = weight_ * world_;  // the mean, so that no gradient is rescaled
    engine_->begin();
    engine_->accumulate(batch_, *loss_, at);
    engine_->finish();
    optimizer_->step({optimizer_->lr(), {}});
    engine_->parameters_changed();
  }

 private:
  static DataFacts image_facts(const std::vector<std::int64_t>& sample, bool masks) {
    DataFacts facts;
    for (int label = 0; label < 10; ++label) facts.classes.push_back(std::to_string(label));
    facts.sample = sample;
    if (masks) facts.mask = MaskFacts{.classes = 10, .void_code = {}};
    return facts;
  }

  void make_image_batch(std::vector<std::int64_t> shape, bool masks, const Recipe& recipe) {
    shape.insert(shape.begin(), rows_);
    batch_.inputs = {at::randn(shape)};
    if (recipe.train.channels_last.value.value_or(false) && shape.size() == 4)
      batch_.inputs[0] = batch_.inputs[0].contiguous(at::MemoryFormat::ChannelsLast);
    batch_.targets = {masks ? at::randint(10, {rows_, shape[2], shape[3]}, at::kLong)
                            : at::randint(10, {rows_}, at::kLong)};
    batch_.rows = rows_;
  }

  static DataFacts token_facts(const TokenSizes& sizes) {
    DataFacts facts;
    facts.cardinalities = {sizes.vocabulary};
    facts.padding = 1;
    facts.tokens.emplace().streams = true;
    return facts;
  }

  void make_token_batch(const TokenSizes& sizes) {
    const auto text = at::randint(2, sizes.vocabulary, {rows_, sizes.length + 1}, at::kLong);
    batch_.inputs = {text.slice(1, 0, sizes.length).contiguous()};
    batch_.targets = {text.slice(1, 1).contiguous()};
    batch_.rows = rows_;
    const auto learned =
        std::llround(sizes.learned * static_cast<double>(sizes.length));  // of a sample
    batch_.targets[0].slice(1, 0, sizes.length - learned).fill_(kNoLabel);
    weight_ = static_cast<double>(rows_ * learned);
  }

  void build(const Setting& setting, World& world, const DataFacts& facts) {
    engine_ = build_engine(setting.recipe, setting.placement, world, facts);
    loss_ = catalog<Loss>().build(*setting.recipe.loss.value, LossContext{facts.class_count()});
    optimizer_ = catalog<Optimizer>().build(
        setting.recipe.optimizer,
        group_parameters(engine_->model(), common_options(setting.recipe.optimizer).no_decay));
  }

  std::int64_t rows_;
  double weight_ = static_cast<double>(rows_);
  int world_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<Optimizer> optimizer_;
  Batch batch_;
  std::int64_t steps_ = 0;
};

}  // namespace ddptrain::bench
