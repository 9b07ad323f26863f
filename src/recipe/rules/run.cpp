// Precision, policies and names of a run.
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

void the_name_is_a_folder(const RuleContext& rule) {
  const auto& name = rule.recipe.name;
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    rule.error("name",
               "'" + name + "' is no name of a folder; 'output.dir' says where the folder is made");
}

void a_deterministic_run_is_counted(const RuleContext& rule) {
  if (rule.recipe.train.deterministic && seconds_of(rule.recipe))
    rule.warn("train.deterministic",
              "a run of '" + to_text(rule.recipe.train.duration) +
                  "' makes as many steps as the machine can; write epochs, steps or samples");
}

void bad_samples_are_skipped(const RuleContext& rule) {
  const auto& policy = rule.recipe.policy;
  if (policy.on_bad_sample == OnBadSample::error && policy.bad_samples != PolicySpec{}.bad_samples)
    rule.warn("policy.bad_samples", "only 'on_bad_sample: skip' reads it");
}

}  // namespace

std::vector<Rule> run_rules() {
  return {
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
      {{"name", "A run's name is that of a folder.",
        "Runs are made as output.dir/name/number, and found there again by the name.",
        "name: shapes/first", "name: first\noutput: {dir: runs/shapes}"},
       the_name_is_a_folder},
      {{"deterministic", "A deterministic run has a number of steps.",
        "How many steps go into ten minutes differs from run to run.",
        "train: {duration: 10 min, deterministic: true}",
        "train: {duration: 1000 steps, deterministic: true}"},
       a_deterministic_run_is_counted},
      {{"bad-samples", "policy.bad_samples is read when bad samples are skipped.",
        "With 'on_bad_sample: error' the first one ends the run.", "policy: {bad_samples: 5 %}",
        "policy: {on_bad_sample: skip, bad_samples: 5 %}"},
       bad_samples_are_skipped},
  };
}

}  // namespace ddptrain
