// What lies in the host's memory.
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

void a_device_shares_its_state(const RuleContext& rule) {
  const auto& parallel = rule.recipe.parallel;
  if (parallel.shard.offload == Offload::none) return;
  if (!has_shards(parallel.mode))
    rule.error("parallel.shard.offload",
               "only zero1, zero2 and fsdp offload what a rank has a part of; they run on one "
               "device, too");
  if (parallel.device == DeviceKind::cpu) rule.error("parallel.shard.offload", kNothingToOffload);
}

void there_is_state_to_offload(const RuleContext& rule) {
  if (rule.recipe.parallel.shard.offload == Offload::none) return;
  const auto& optimizer = rule.recipe.optimizer;
  for (const auto& [inside, path] : nested(rule, optimizer, "optimizer"))
    if (rule.has(inside, "lookahead"))
      return rule.error("parallel.shard.offload",
                        "'{}' keeps slow weights, which every few steps change all weights at "
                        "once; they stay on the device",
                        inside.type());
  if (rule.has(optimizer, "keeps_momentum_alone") &&
      number_of(rule.value(optimizer, "momentum")) == 0)
    rule.error("parallel.shard.offload", "'{}' without momentum keeps no state", optimizer.type());
}

constexpr Rule kOffloadRules[] = {
    {{"offload", "Only devices offload what ranks share.",
      "The optimizer's state of a rank lies in the host's memory; on the CPU it does anyway.",
      "parallel: {mode: ddp, device: cuda, devices: 2, shard: {offload: optimizer}}",
      "parallel: {mode: fsdp, device: cuda, devices: 2, shard: {offload: optimizer}}"},
     a_device_shares_its_state},
    {{"offload-state", "An optimizer has state that can be offloaded.",
      "Plain descent keeps none, and slow weights change all weights at once.",
      "optimizer: {type: sgd, lr: 0.1, momentum: 0}\n"
      "parallel: {mode: fsdp, device: cuda, devices: 2, shard: {offload: optimizer}}",
      "optimizer: {type: sgd, lr: 0.1, momentum: 0.9}\n"
      "parallel: {mode: fsdp, device: cuda, devices: 2, shard: {offload: optimizer}}"},
     there_is_state_to_offload},
};

}  // namespace

std::vector<Rule> offload_rules() { return {std::begin(kOffloadRules), std::end(kOffloadRules)}; }

}  // namespace ddptrain
