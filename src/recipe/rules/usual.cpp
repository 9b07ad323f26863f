// Values that are legal and far outside what published recipes use: a slip of the hand, most often.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "recipe/rules/rules.h"
#include "recipe/rules/written_schedules.h"

namespace ddptrain {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

/// What values of an option are used, 0 aside; `hint` follows in the message.
struct Usual {
  std::string_view kind;
  std::string_view key;
  double low;
  double high;
  std::string_view hint = {};
};

constexpr std::string_view kGrows = "; above 1 the rate grows";
constexpr std::string_view kPeak = "; below 1 the rate there is above optimizer.lr";
constexpr std::string_view kPixels = "; pixels are in 0 to 1 here: divide it by 255";
constexpr std::string_view kDrops = "; it is the share that is dropped, not what is kept";
constexpr double kLeastRate = 1e-8;

/// Rates: fine-tuning of language models goes down to 1e-7, word-level LSTMs (Merity et al. 2018)
/// up to 30 with sgd, batches of 32,768 with lars (You et al. 2017) to 30. Decay: 1 in grokking
/// (Power et al. 2022), 10 with lion (Chen et al. 2023). eps: 1 in Inception. alpha: 32 (Zhang et
/// al. 2018).
constexpr auto usual_table = std::to_array<Usual>({
    {"optimizer", "lr", kLeastRate, 1},
    {"optimizer", "weight_decay", 1e-10, 1},
    {"optimizer", "eps", 0, 1},
    {"optimizer", "lr_decay", 0, 1},
    {"optimizer", "momentum_decay", 0, 1},
    {"optimizer", "trust_coeff", 1e-5, 1},
    {"clip", "max", 1e-6, 1e6},
    {"schedule", "gamma", 0, 1, kGrows},
    {"schedule", "factor", 0, 10},
    {"schedule", "start_factor", 0, 10},
    {"schedule", "end_factor", 0, 10},
    {"schedule", "power", 0.1, 10},
    {"schedule", "div", 1, 1e6, kPeak},
    {"schedule", "div_final", 1, kAny, kPeak},
    {"loss", "label_smoothing", 0, 0.5},
    {"loss", "eps", 0, 0.5},
    {"loss", "gamma", 0, 10},
    {"mix", "alpha", 1e-3, 32},
    {"model", "dropout", 0, 0.95, kDrops},
    {"model", "attention_dropout", 0, 0.95, kDrops},
    {"model", "conv_dropout", 0, 0.95, kDrops},
    {"model", "drop_rate", 0, 0.95, kDrops},
    {"model", "stochastic_depth_prob", 0, 0.95, kDrops},
    {"model", "embed_p", 0, 0.95, kDrops},
    {"model", "hidden_p", 0, 0.95, kDrops},
    {"model", "input_p", 0, 0.95, kDrops},
    {"model", "output_p", 0, 0.95, kDrops},
    {"model", "weight_p", 0, 0.95, kDrops},
    {"model", "ps", 0, 0.95, kDrops},
    {"model", "token_dropout", 0, 0.95, kDrops},
    {"layer", "p", 0, 0.95, kDrops},
    {"transform", "mean", 0, 1, kPixels},
    {"transform", "std", 0, 1, kPixels},
    {"transform", "fill", -10, 255},
    {"transform", "brightness", 0, 1.5},
    {"transform", "contrast", 0, 1.5},
    {"transform", "saturation", 0, 1.5},
    {"transform", "max_zoom", 0.1, 10},
});

std::string far_off(double value, double low, double high, const std::string& type) {
  const bool above = value > high;
  return fmt::format("{} is far {} what '{}' is used with, {}", format_number(value),
                     above ? "above" : "below", type, format_number(above ? high : low));
}

/// `visit(number, path)` for a number, those of a list, and those of a map of options.
template <class Visit>
void for_each_number(const Node& node, const std::string& path, Visit visit) {
  if (const auto number = number_of(&node)) visit(*number, path);
  for (std::size_t i = 0; i < node.items.size(); ++i)
    for_each_number(node.items[i], indexed(path, i), visit);
  for (const auto& member : node.members)
    for_each_number(member.value, path + "." + member.key, visit);
}

/// The greatest value that a component is used with: its own, or that of its kind.
double greatest(const RuleContext& rule, const ChoiceBase& choice, const Usual& usual) {
  const auto* entry = rule.entry(choice);
  const auto own = entry ? trait_argument(*entry, "usual_" + std::string(usual.key)) : std::nullopt;
  return own ? parse_number(*own).value_or(usual.high) : usual.high;
}

void check_option(const RuleContext& rule, const NestedChoice& component, const Usual& usual) {
  const auto& [choice, path] = component;
  const std::string key(usual.key);
  const auto* value = choice.node().find(key);
  if (choice.kind() != usual.kind || !value) return;
  const double high = greatest(rule, choice, usual);
  for_each_number(*value, path + "." + key, [&](double number, const std::string& where) {
    if (number != 0 && (number < usual.low || number > high))
      rule.warn(where, far_off(number, usual.low, high, choice.type()) + std::string(usual.hint));
  });
}

/// The rates that train says, for the optimizer of the recipe.
void check_rates_of_stages(const RuleContext& rule) {
  const auto optimizer = inner_optimizer(rule.recipe).choice;
  const double high = greatest(rule, optimizer, usual_table[0]);
  const auto check = [&](std::optional<double> rate, const std::string& path) {
    if (rate && *rate != 0 && (*rate < kLeastRate || *rate > high))
      rule.warn(path, far_off(*rate, kLeastRate, high, optimizer.type()));
  };
  const auto& train = rule.recipe.train;
  for (std::size_t i = 0; i < train.stages.size(); ++i) {
    const auto& lr = train.stages[i].lr;
    const auto path = indexed("train.stages", i) + ".lr";
    if (!lr) continue;
    check(lr->to, path);
    check(lr->from, path + ".from");
    check(lr->others, path + ".others");
  }
  if (train.fine_tune) check(train.fine_tune->base_lr, "train.fine_tune.base_lr");
  if (train.swa) check(train.swa->lr, "train.swa.lr");
}

void values_are_usual(const RuleContext& rule) {
  for (const auto& component : all_choices(rule.tree, rule.catalogs)) {
    if (component.path.starts_with("weight_decay_schedule")) continue;  // 10 times is usual there
    for (const auto& usual : usual_table) check_option(rule, component, usual);
  }
  check_rates_of_stages(rule);
  if (const auto& ema = rule.recipe.train.ema; ema && ema->decay > 0 && ema->decay < 0.5)
    rule.warn("train.ema.decay",
              "{} keeps less than half of the average at each step; 0.999 is usual",
              format_number(ema->decay));
}

void means_are_shorter_than_squares(const RuleContext& rule) {
  for (const auto& [optimizer, path] : nested(rule, rule.recipe.optimizer, "optimizer")) {
    const auto betas = items_of(rule.value(optimizer, "betas"));
    if (betas.size() != 2) continue;
    const auto first = number_of(betas[0]), second = number_of(betas[1]);
    if (first && second && *first > *second)
      rule.warn(path + ".betas",
                "the first, {}, is of the gradient and the second, {}, of its square, whose mean "
                "is the longer one; write [{}, {}]",
                format_number(*first), format_number(*second), format_number(*second),
                format_number(*first));
  }
}

/// The greatest number that a schedule brings the momentum to, from what it begins with.
double greatest_momentum(const RuleContext& rule, const ChoiceBase& schedule, double begin) {
  double factor = 0;
  for (const auto* key : {"factor", "start_factor", "end_factor"})
    factor = std::max(factor, number_of(rule.value(schedule, key)).value_or(0));
  for (const auto* part : items_of(rule.value(schedule, "parts")))
    for (const auto* key : {"start", "end"})
      factor = std::max(factor, number_of(part->find(key)).value_or(0));
  return std::max(factor * begin, number_of(rule.value(schedule, "min_lr")).value_or(0));
}

void momentum_stays_below_one(const RuleContext& rule) {
  const auto& schedule = rule.recipe.momentum_schedule;
  if (!schedule) return;
  const auto optimizer = inner_optimizer(rule.recipe).choice;
  const auto betas = items_of(rule.value(optimizer, "betas"));
  const auto begin =
      number_of(betas.empty() ? rule.value(optimizer, "momentum") : betas.front()).value_or(0);
  const double reached = greatest_momentum(rule, *schedule, begin);
  if (reached >= 1)
    rule.error("momentum_schedule", "it brings the momentum from {} to {}, and momentum is below 1",
               format_number(begin), format_number(reached));
}

constexpr Rule kUsualRules[] = {
    {{"unusual-value", "A value is near those that are used.",
      "A rate of 100 instead of 1e-3, or a weight decay of 10, is legal and most often a slip of "
      "the hand; the run would diverge, or learn nothing. The ranges are wider than what "
      "published recipes use; a value that is meant stays as it is.",
      "optimizer: {type: adam, lr: 100}", "optimizer: {type: adam, lr: 1e-3}"},
     values_are_usual},
    {{"betas-order", "The first beta is at most the second.",
      "The mean of the squares forgets more slowly than the mean of the gradient; the other way "
      "round, steps have no bound and Adam does not converge (Kingma and Ba 2015).",
      "optimizer: {type: adam, lr: 1e-3, betas: [0.999, 0.9]}",
      "optimizer: {type: adam, lr: 1e-3, betas: [0.9, 0.999]}"},
     means_are_shorter_than_squares},
    {{"momentum-schedule", "Momentum stays below 1.",
      "From 1 on nothing of the old gradients is forgotten, and the steps grow without end.",
      "optimizer: {type: sgd, lr: 0.1, momentum: 0.9}\n"
      "momentum_schedule: {type: linear, end_factor: 2}",
      "optimizer: {type: sgd, lr: 0.1, momentum: 0.9}\n"
      "momentum_schedule: {type: linear, end_factor: 1.1}"},
     momentum_stays_below_one},
};

}  // namespace

std::vector<Rule> usual_rules() { return {std::begin(kUsualRules), std::end(kUsualRules)}; }

}  // namespace ddptrain
