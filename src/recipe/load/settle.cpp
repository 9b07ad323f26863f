#include "recipe/load/settle.h"

#include "recipe/rules/metric_names.h"
#include "recipe/rules/rule_context.h"

namespace ddptrain {
namespace {

/// `mode: auto` of a callback that has such an option.
void settle_mode(Choice<Callback>& callback, const RuleContext& rule) {
  const auto* mode = rule.value(callback, "mode");
  if (text_of(mode) != "auto") return;
  const auto better = better_way(rule, text_of(rule.value(callback, "metric")));
  if (!better) return;
  auto node = callback.node();
  node.set("mode", Node::scalar(*better == BestMode::min ? "min" : "max"));
  callback.choose(std::move(node));
}

}  // namespace

void settle_scores(Recipe& recipe, TargetKind targets) {
  if (recipe.loss.automatic()) recipe.loss = usual_loss(targets);
  if (recipe.metrics.automatic()) recipe.metrics = usual_metrics(targets);
}

void settle(Recipe& recipe, const Node& tree, const Catalogs& catalogs) {
  if (const auto targets = written_target(recipe, catalogs)) settle_scores(recipe, *targets);
  Problems ignored;
  const Recipe before = recipe;
  const RuleContext rule(before, tree, catalogs, ignored);
  auto& best = recipe.checkpoint.keep_best;
  if (best && best->mode.automatic()) best->mode.value = better_way(rule, best->metric);
  for (auto& callback : recipe.callbacks) settle_mode(callback, rule);
}

}  // namespace ddptrain
