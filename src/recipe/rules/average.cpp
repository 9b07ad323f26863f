// Averages of the weights: train.ema and train.swa.
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

void one_average_is_kept(const RuleContext& rule) {
  if (rule.recipe.train.swa && rule.recipe.train.ema)
    rule.error("train.swa", "a run keeps one average; remove train.ema or train.swa");
}

// A share of the run, steps, samples or epochs can be counted in steps; seconds cannot.
void averaging_counts_steps(const RuleContext& rule) {
  const auto& train = rule.recipe.train;
  if (!train.swa) return;
  const auto counted = [&](const Duration& duration, const std::string& key) {
    if (duration.unit == Duration::Unit::seconds)
      rule.error("train.swa." + key,
                 "averaging counts steps; write epochs, steps, samples or a share of the run");
  };
  counted(train.swa->start, "start");
  counted(train.swa->every, "every");
  counted(train.swa->over, "over");
  if (train.duration.unit == Duration::Unit::seconds)
    rule.error("train.swa", "a run measured in seconds does not know when to begin");
}

void averaging_measures_statistics(const RuleContext& rule) {
  if (rule.recipe.train.swa && rule.has(rule.recipe.model, "scripted"))
    rule.error("train.swa",
               "'{}' keeps the statistics of its batch norm to itself, and swa measures those of "
               "the averaged weights; train.ema does not",
               rule.recipe.model.type());
}

void averaging_begins(const RuleContext& rule) {
  const auto& swa = rule.recipe.train.swa;
  const auto run = whole_run(rule.recipe);
  if (swa && run && part_of(swa->start, *run).value_or(0) >= 1)
    rule.error("train.swa.start", "the run of '{}' ends before '{}': nothing is averaged",
               to_text(*run), to_text(swa->start));
}

void an_average_remembers(const RuleContext& rule) {
  const auto& ema = rule.recipe.train.ema;
  if (ema && ema->decay == 0)
    rule.warn("train.ema.decay", "an average that keeps nothing is the model itself");
}

void stages_have_their_rates(const RuleContext& rule) {
  const auto& train = rule.recipe.train;
  if (train.swa && train.swa->lr && (train.fine_tune || !train.stages.empty()))
    rule.error("train.swa.lr", "stages have rates of their own; leave it out");
}

void a_rate_is_annealed(const RuleContext& rule) {
  const auto& swa = rule.recipe.train.swa;
  if (!swa) return;
  if (!swa->lr && swa->anneal != SwaSpec{}.anneal)
    rule.warn("train.swa.anneal", "without train.swa.lr the schedule goes on");
  const bool over = to_text(swa->over) != to_text(SwaSpec{}.over);
  if (over && !swa->lr)
    rule.warn("train.swa.over", "without train.swa.lr the schedule goes on");
  else if (over && swa->anneal == SwaAnneal::none)
    rule.warn("train.swa.over", "with 'anneal: none' the rate jumps to train.swa.lr at once");
}

constexpr Rule kAverageRules[] = {
    {{"two-averages", "A run keeps one average of its weights.",
      "train.ema and train.swa are two averages, and only one is scored and kept.",
      "train: {duration: 5 epochs, ema: {decay: 0.99}, swa: {start: 75 %}}",
      "train: {duration: 5 epochs, swa: {start: 75 %}}"},
     one_average_is_kept},
    {{"swa-in-seconds", "Averaging is counted in steps.",
      "How many steps there are in a number of seconds is known when they are over.",
      "train: {swa: {start: 10 min}}", "train: {swa: {start: 75 %}}"},
     averaging_counts_steps},
    {{"swa-start", "Averaging begins before the run ends.",
      "Otherwise there is nothing to average.",
      "train: {duration: 5 epochs, swa: {start: 10 epochs}}",
      "train: {duration: 5 epochs, swa: {start: 4 epochs}}"},
     averaging_begins},
    {{"swa-script", "swa measures batch norm, which a script keeps to itself.",
      "The statistics of averaged weights are measured after training, layer by layer, and the "
      "layers of a script are not ours. A moving average keeps those of training.",
      "model: {type: torchscript, file: model.pt}\ntrain: {swa: {start: 75 %}}",
      "model: {type: torchscript, file: model.pt}\ntrain: {ema: {decay: 0.99}}"},
     averaging_measures_statistics},
    {{"ema-decay", "A moving average keeps something.",
      "With 'decay: 0' it is the weights of the last step, the model itself.",
      "train: {ema: {decay: 0}}", "train: {ema: {decay: 0.99}}"},
     an_average_remembers},
    {{"swa-lr", "train.swa.lr is for a run without stages.",
      "Each stage has a schedule and a rate of its own.",
      "train: {fine_tune: {epochs: 4}, swa: {lr: 0.01}}",
      "train: {fine_tune: {epochs: 4}, swa: {}}"},
     stages_have_their_rates},
    {{"swa-anneal", "train.swa.anneal and over say how the rate gets to train.swa.lr.",
      "Without such a rate the schedule goes on and nothing is annealed, and with 'anneal: none' "
      "there is no way for 'over' to be the length of.",
      "train: {swa: {anneal: linear}}", "train: {swa: {anneal: linear, lr: 0.01}}"},
     a_rate_is_annealed},
};

}  // namespace

std::vector<Rule> average_rules() { return {std::begin(kAverageRules), std::end(kAverageRules)}; }

}  // namespace ddptrain
