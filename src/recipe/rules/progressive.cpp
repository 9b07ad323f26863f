// Progressive resizing: smaller training images at first.
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

struct SizeStage {
  std::string path;
  std::optional<Duration> until;
};

std::vector<SizeStage> size_stages(const RuleContext& rule) {
  const auto* lists = rule.value(rule.recipe.data, "transforms");
  const auto items = items_of(lists && lists->is_map() ? lists->find("progressive") : nullptr);
  std::vector<SizeStage> stages;
  for (std::size_t i = 0; i < items.size(); ++i)
    stages.push_back({indexed("data.transforms.progressive", i) + ".until",
                      duration_of(items[i]->find("until"))});
  return stages;
}

void sizes_change_with_epochs(const RuleContext& rule) {
  const auto run = whole_run(rule.recipe);
  const bool epochs = run && run->unit == Duration::Unit::epochs;
  for (const auto& [path, until] : size_stages(rule)) {
    if (!until || until->unit == Duration::Unit::epochs) continue;
    if (until->unit != Duration::Unit::share)
      rule.error(path, "the size changes with an epoch; write epochs or a share of the run");
    else if (!epochs)
      rule.error(path, "a share of a run that is not measured in epochs; write 'until: 3 epochs'");
  }
}

void sizes_follow_one_another(const RuleContext& rule) {
  const auto run = whole_run(rule.recipe);
  double before = 0;
  for (const auto& [path, until] : size_stages(rule)) {
    const auto part = run && until ? part_of(*until, *run) : std::nullopt;
    if (!part) continue;
    if (*part <= before) rule.error(path, "over before it begins; stages follow one another");
    before = *part;
  }
}

void the_full_size_is_reached(const RuleContext& rule) {
  const auto run = whole_run(rule.recipe);
  const auto stages = size_stages(rule);
  if (!run || stages.empty() || !stages.back().until) return;
  if (part_of(*stages.back().until, *run).value_or(0) >= 1)
    rule.warn(stages.back().path,
              "the run of '{}' is over by then: no epoch has images of the full size",
              to_text(*run));
}

constexpr Rule kProgressiveRules[] = {
    {{"progressive-unit", "Training images change their size with an epoch.",
      "Batches of an epoch are loaded ahead, all of one size.",
      "train: {duration: 5 epochs}\n"
      "data: {transforms: {progressive: [{until: 500 steps, size: 32}]}}",
      "train: {duration: 5 epochs}\n"
      "data: {transforms: {progressive: [{until: 2 epochs, size: 32}]}}"},
     sizes_change_with_epochs},
    {{"progressive-order", "Sizes of training images follow one another.",
      "A size that ends before the one ahead of it would have no epoch.",
      "train: {duration: 8 epochs}\n"
      "data: {transforms: {progressive: [{until: 4 epochs, size: 32}, {until: 2 epochs, size: "
      "48}]}}",
      "train: {duration: 8 epochs}\n"
      "data: {transforms: {progressive: [{until: 2 epochs, size: 32}, {until: 4 epochs, size: "
      "48}]}}"},
     sizes_follow_one_another},
    {{"progressive-end", "The last epochs have images of the full size.",
      "The model would be scored at a size that it was never trained at.",
      "train: {duration: 5 epochs}\n"
      "data: {transforms: {progressive: [{until: 6 epochs, size: 32}]}}",
      "train: {duration: 5 epochs}\n"
      "data: {transforms: {progressive: [{until: 3 epochs, size: 32}]}}"},
     the_full_size_is_reached},
};

}  // namespace

std::vector<Rule> progressive_rules() {
  return {std::begin(kProgressiveRules), std::end(kProgressiveRules)};
}

}  // namespace ddptrain
