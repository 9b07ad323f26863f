// Precision, policies and names of a run.
#include <fmt/format.h>

#include <algorithm>

#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

void tf32_has_cuda(const RuleContext& rule) {
  if (rule.recipe.parallel.device == DeviceKind::cpu &&
      rule.recipe.train.precision.value == Precision::tf32)
    rule.warn("train.precision", "tf32 is a mode of CUDA devices; the CPU computes in fp32");
}

void fp16_has_cuda(const RuleContext& rule) {
  if (rule.recipe.parallel.device == DeviceKind::cpu &&
      rule.recipe.train.precision.value == Precision::fp16)
    rule.warn("train.precision", "fp16 is slow on the CPU; bf16 is made for it");
}

void the_loss_is_scaled(const RuleContext& rule) {
  const auto& train = rule.recipe.train;
  if (train.loss_scale && train.precision.value && *train.precision.value != Precision::fp16)
    rule.warn("train.loss_scale", "only 'train.precision: fp16' scales the loss");
}

void evaluation_computes_with_the_weights(const RuleContext& rule) {
  const auto& training = rule.recipe.train.precision.value;
  if (!rule.recipe.eval.precision.value || !training) return;
  if (*training == Precision::fp64)
    rule.error("eval.precision", "under 'train.precision: fp64' evaluation computes in fp64 too");
}

/// What of a recipe keeps steps from being captured wherever it runs; empty: nothing.
std::string no_graph_with(const Recipe& recipe) {
  const auto& parallel = recipe.parallel;
  if (parallel.device == DeviceKind::cpu) return "'parallel.device: cpu' has none";
  if (has_replicas(parallel.mode))
    return "'parallel.mode: dp' computes in a thread for each device";
  if (recipe.batch.accumulate.value.value_or(1) > 1)
    return "'batch.accumulate' makes several passes a step";
  if (has_ranks(parallel.mode) && parallel.ddp.find_unused_parameters)
    return "'parallel.ddp.find_unused_parameters' may use others in each step";
  return {};
}

void a_graph_can_be_captured(const RuleContext& rule) {
  if (!rule.recipe.train.graph.value.value_or(false)) return;
  auto why = no_graph_with(rule.recipe);
  if (rule.has(rule.recipe.model, "scripted"))
    why = fmt::format("'{}' may decide in each step what it computes", rule.recipe.model.type());
  if (!why.empty()) rule.error("train.graph", "steps cannot be captured into a graph: {}", why);
}

void the_name_is_a_folder(const RuleContext& rule) {
  const auto& name = rule.recipe.name;
  const bool control =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (control || name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    rule.error("name", "'{}' is no name of a folder; 'output.dir' says where the folder is made",
               name);
}

void a_deterministic_run_is_counted(const RuleContext& rule) {
  if (rule.recipe.train.deterministic && seconds_of(rule.recipe))
    rule.warn(
        "train.deterministic",
        "a run of '{}' makes as many steps as the machine can; write epochs, steps or samples",
        to_text(rule.recipe.train.duration));
}

/// Of "varies_on_cuda pooling=max" the words "pooling: max" where that is what was chosen; of the
/// trait alone nothing; no value where it does not hold.
std::optional<std::string> holds(const RuleContext& rule, const ChoiceBase& choice,
                                 const std::string& trait) {
  static const std::string name = "varies_on_cuda";
  if (!trait.starts_with(name)) return {};
  if (trait == name) return "";
  const auto equals = trait.find('=');
  const bool negated = trait[equals - 1] == '!';
  const auto option = trait.substr(name.size() + 1, equals - name.size() - 1 - negated);
  const auto value = text_of(rule.value(choice, option));
  if ((value == trait.substr(equals + 1)) == negated) return {};
  return option + ": " + value;
}

/// What of a component has no deterministic kernel on CUDA: "'alexnet'", "'bag_of_embeddings' with
/// 'pooling: max'".
std::vector<std::string> varying(const RuleContext& rule, const ChoiceBase& choice) {
  std::vector<std::string> found;
  const auto* entry = rule.entry(choice);
  if (entry == nullptr) return found;
  for (const auto& trait : entry->traits)
    if (const auto with = holds(rule, choice, trait))
      found.push_back(fmt::format("'{}'{}", choice.type(),
                                  with->empty() ? "" : fmt::format(" with '{}'", *with)));
  return found;
}

void a_deterministic_run_has_kernels(const RuleContext& rule) {
  const auto device = rule.recipe.parallel.device;
  const bool on_cuda = device == DeviceKind::cuda;
  if (!rule.recipe.train.deterministic || (!on_cuda && device != DeviceKind::automatic)) return;
  std::vector<std::string> found;
  for (const auto& [part, path] : nested(rule, rule.recipe.model, "model")) {
    const bool body = part.kind() == rule.recipe.model.kind() && path != "model";
    if (body) continue;  // it comes without its pooling
    for (auto& each : varying(rule, part)) found.push_back(std::move(each));
  }
  for (const auto& each : found)
    if (on_cuda)
      rule.error("train.deterministic", "{} has no deterministic backward pass on CUDA", each);
    else
      rule.warn("train.deterministic",
                "{} has no deterministic backward pass on CUDA; 'parallel.device: cpu' has", each);
}

void bad_samples_are_skipped(const RuleContext& rule) {
  const auto& policy = rule.recipe.policy;
  if (policy.on_bad_sample == OnBadSample::error && policy.bad_samples != PolicySpec{}.bad_samples)
    rule.warn("policy.bad_samples", "only 'on_bad_sample: skip' reads it");
}

constexpr Rule kRunRules[] = {
    {{"tf32-on-cpu", "tf32 is a mode of CUDA devices.",
      "The CPU has no such number and computes in fp32.",
      "train: {precision: tf32}\nparallel: {device: cpu}",
      "train: {precision: fp32}\nparallel: {device: cpu}"},
     tf32_has_cuda},
    {{"fp16-on-cpu", "fp16 is for CUDA devices.",
      "A CPU widens and narrows each number; bf16 is the short number that it can compute with.",
      "train: {precision: fp16}\nparallel: {device: cpu}",
      "train: {precision: bf16}\nparallel: {device: cpu}"},
     fp16_has_cuda},
    {{"loss-scale", "train.loss_scale is read under fp16.",
      "Gradients of other precisions have the exponents of fp32 and need no scale.",
      "train: {precision: bf16, loss_scale: {init_scale: 1024}}",
      "train: {precision: fp16, loss_scale: {init_scale: 1024}}"},
     the_loss_is_scaled},
    {{"eval-precision", "Evaluation in another precision keeps the weights' type.",
      "The weights of a run in fp64 are double numbers, and what is computed with them is too.",
      "train: {precision: fp64}\neval: {precision: bf16}",
      "train: {precision: fp32}\neval: {precision: bf16}"},
     evaluation_computes_with_the_weights},
    {{"graph", "Steps that are captured are alike.",
      "A graph of a GPU repeats one forward and backward pass as it was. The CPU has no graphs; "
      "'train.graph: auto' captures where that is possible.",
      "train: {graph: true}\nparallel: {device: cpu}",
      "train: {graph: auto}\nparallel: {device: cpu}"},
     a_graph_can_be_captured},
    {{"name", "A run's name is that of a folder.",
      "Runs are made as output.dir/name/number, and found there again by the name.",
      "name: shapes/first", "name: first\noutput: {dir: runs/shapes}"},
     the_name_is_a_folder},
    {{"deterministic", "A deterministic run has a number of steps.",
      "How many steps go into ten minutes differs from run to run.",
      "train: {duration: 10 min, deterministic: true}",
      "train: {duration: 1000 steps, deterministic: true}"},
     a_deterministic_run_is_counted},
    {{"deterministic-on-cuda", "A deterministic run has deterministic kernels.",
      "Some backward passes add up in any order on CUDA, such as those of adaptive pooling; "
      "LibTorch refuses them in the first step.",
      "model: alexnet\ntrain: {deterministic: true}\nparallel: {device: cuda}",
      "model: resnet18\ntrain: {deterministic: true}\nparallel: {device: cuda}"},
     a_deterministic_run_has_kernels},
    {{"bad-samples", "policy.bad_samples is read when bad samples are skipped.",
      "With 'on_bad_sample: error' the first one ends the run.", "policy: {bad_samples: 5 %}",
      "policy: {on_bad_sample: skip, bad_samples: 5 %}"},
     bad_samples_are_skipped},
};

}  // namespace

std::vector<Rule> run_rules() { return {std::begin(kRunRules), std::end(kRunRules)}; }

}  // namespace ddptrain
