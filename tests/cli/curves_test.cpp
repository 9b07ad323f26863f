// What `plan` reads from an optimizer's options is what the optimizer has.
#include "schedules/rate_plan.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "optim/optimizer.h"
#include "recipe/recipe.h"
#include "support/node.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

std::unique_ptr<Optimizer> built(const Choice<Optimizer>& choice) {
  ParameterGroup group;
  group.parameters = {{"layer.weight", at::zeros({2, 2})}};
  return catalog<Optimizer>().build(choice, std::vector{group});
}

void expect_same_rates(const nlohmann::json& optimizer) {
  Recipe recipe;
  recipe.optimizer = fragment<Optimizer>(optimizer);
  const auto read = optimizer_rates(recipe, all_catalogs());
  const auto made = built(recipe.optimizer);
  EXPECT_EQ(read.lr, made->lr()) << optimizer;
  EXPECT_EQ(read.momentum, made->momentum()) << optimizer;
}

TEST(Curves, ReadTheRateAndMomentumOfEveryOptimizer) {
  for (const auto& name : catalog<Optimizer>().names()) {
    nlohmann::json optimizer{{"type", name}};
    if (name == "lookahead") optimizer["inner"] = "sgd";  // it has no default
    expect_same_rates(optimizer);
  }
}

TEST(Curves, ReadWhereTheWeightDecayBegins) {
  const auto decay_of = [](const nlohmann::json& optimizer) {
    Recipe recipe;
    recipe.optimizer = fragment<Optimizer>(optimizer);
    return optimizer_rates(recipe, all_catalogs()).weight_decay;
  };
  EXPECT_EQ(decay_of("adamw"), 0.01);  // torch's default
  const nlohmann::json inner{{"type", "sgd"}, {"lr", 0.1}, {"weight_decay", 0.25}};
  EXPECT_EQ(decay_of({{"type", "lookahead"}, {"inner", inner}}), 0.25);
}

TEST(Curves, ReadWhatTheRecipeWrites) {
  expect_same_rates({{"type", "sgd"}, {"lr", 0.3}, {"momentum", 0.7}});
  expect_same_rates({{"type", "sgd"}, {"lr", {{"from", 0.01}, {"to", 0.3}}}, {"momentum", 0}});
  expect_same_rates({{"type", "rmsprop"}, {"momentum", 0}});
  expect_same_rates({{"type", "adamw"}, {"lr", 2e-4}, {"betas", {0.8, 0.99}}});
  const nlohmann::json inner{{"type", "sgd"}, {"lr", 0.2}, {"momentum", 0.6}};
  expect_same_rates({{"type", "lookahead"}, {"inner", inner}});
}

}  // namespace
}  // namespace ddptrain
