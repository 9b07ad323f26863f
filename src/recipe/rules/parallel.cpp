// Devices and how they work together.
#include <algorithm>

#include "config/encode.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

void one_device_without_a_mode(const RuleContext& rule) {
  const auto& parallel = rule.recipe.parallel;
  const auto& devices = parallel.devices;
  const bool several = devices.ids.size() > 1 || devices.count.value.value_or(1) > 1;
  if (!has_devices(parallel.mode) && several)
    rule.error("parallel.devices",
               "mode none runs on one device; write 'parallel.mode: ddp' (or dp)");
}

void listed_devices_are_cuda(const RuleContext& rule) {
  const auto& parallel = rule.recipe.parallel;
  if (parallel.device == DeviceKind::cpu && !parallel.devices.ids.empty())
    rule.error("parallel.devices",
               "a list names CUDA devices; on the CPU write how many, as in 'devices: 2'");
}

void each_device_is_listed_once(const RuleContext& rule) {
  auto ids = rule.recipe.parallel.devices.ids;
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
    rule.error("parallel.devices", "a device is listed twice");
}

void devices_are_counted_once(const RuleContext& rule) {
  const auto& [count, ids] = rule.recipe.parallel.devices;
  if (count.value && !ids.empty() && *count.value != static_cast<std::int64_t>(ids.size()))
    rule.error("parallel.devices.count", "{} devices, but {} are listed", *count.value, ids.size());
}

bool is_asked_for(const Auto<bool>& option) { return option.value.value_or(false); }

/// Of a model that lists its layers, these decide.
bool has_batch_norm(const RuleContext& rule) {
  bool layers = false, norms = false;
  for (const auto& [part, path] : nested(rule, rule.recipe.model, "model")) {
    if (part.kind() == rule.recipe.model.kind()) continue;
    layers = true;
    norms = norms || rule.has(part, "batch_norm");
  }
  return rule.has(rule.recipe.model, "batch_norm") && (norms || !layers);
}

void sync_bn_has_batch_norm(const RuleContext& rule) {
  const auto* model = rule.entry(rule.recipe.model);
  if (!is_asked_for(rule.recipe.parallel.sync_bn) || !model) return;
  if (model->has("scripted"))
    rule.error(
        "parallel.sync_bn",
        "'{}' computes its batch norm itself, from the rows of one device; write 'sync_bn: auto'",
        model->name);
  else if (!has_batch_norm(rule))
    rule.error("parallel.sync_bn",
               "'{}' has no batch norm; 'sync_bn: auto' is for recipes of models with and without",
               model->name);
}

void sync_bn_has_devices(const RuleContext& rule) {
  if (is_asked_for(rule.recipe.parallel.sync_bn) && !has_devices(rule.recipe.parallel.mode))
    rule.warn(
        "parallel.sync_bn",
        "mode none has one device: there is nothing to synchronize; 'sync_bn: auto' fits both");
}

void ddp_options_are_read(const RuleContext& rule) {
  auto asked = rule.recipe.parallel.ddp;
  DdpSpec fresh;
  if (!has_ranks(rule.recipe.parallel.mode) && to_yaml(encode(asked)) != to_yaml(encode(fresh)))
    rule.warn("parallel.ddp", "only modes with a process per device read these options");
}

void unused_parameters_are_looked_for(const RuleContext& rule) {
  const auto& [mode, ddp] = std::pair(rule.recipe.parallel.mode, rule.recipe.parallel.ddp);
  if (has_ranks(mode) && ddp.static_graph && ddp.find_unused_parameters)
    rule.warn("parallel.ddp.find_unused_parameters",
              "static_graph promises that every step uses the same parameters; what the first "
              "leaves out is never looked for again");
}

void gradients_that_are_compressed_have_one_scale(const RuleContext& rule) {
  const auto& recipe = rule.recipe;
  if (recipe.parallel.ddp.comm.power_sgd && recipe.train.precision.value == Precision::fp16)
    rule.error("parallel.ddp.comm.power_sgd",
               "what a gradient has lost is added to the next one, and fp16 changes the scale of "
               "gradients between them; write 'train.precision: bf16'");
}

void time_outs_are_times(const RuleContext& rule) {
  const auto check = [&](const Duration& timeout, const std::string& key) {
    if (timeout.unit != Duration::Unit::seconds)
      rule.error("parallel.timeout." + key, "'{}' is no time; write for example '5 min'",
                 to_text(timeout));
  };
  check(rule.recipe.parallel.timeout.start, "start");
  check(rule.recipe.parallel.timeout.step, "step");
}

void time_outs_have_ranks(const RuleContext& rule) {
  const auto& [start, step] = rule.recipe.parallel.timeout;
  const TimeoutSpec fresh;
  const bool asked = to_text(start) != to_text(fresh.start) || to_text(step) != to_text(fresh.step);
  if (asked && !has_ranks(rule.recipe.parallel.mode))
    rule.warn("parallel.timeout",
              "only modes with a process per device have ranks that wait for each other");
}

/// What mode ddp can do to gradients on their way.
void sharded_gradients_travel_whole(const RuleContext& rule) {
  const auto& [mode, comm] = std::pair(rule.recipe.parallel.mode, rule.recipe.parallel.ddp.comm);
  if (may_have_shards(mode) && comm.power_sgd)
    rule.error("parallel.ddp.comm.power_sgd",
               "each rank gets the sums of a slice, of which PowerSGD makes none; only mode ddp "
               "compresses gradients");
  if (may_have_units(mode) && comm.dtype)
    rule.error("parallel.ddp.comm.dtype",
               "zero2 and fsdp sum gradients in the type that they have; only ddp and zero1 round "
               "them on their way");
}

void shards_are_of_units(const RuleContext& rule) {
  const auto& parallel = rule.recipe.parallel;
  if (!parallel.shard.group.automatic() && !may_have_units(parallel.mode))
    rule.error("parallel.shard.group", "only zero2 and fsdp share among groups of ranks");
  if (parallel.shard.reduce != ShardReduce::each && !may_have_units(parallel.mode))
    rule.error("parallel.shard.reduce",
               "only zero2 and fsdp sum gradients after each micro-batch; the other modes do after "
               "the last one");
}

void groups_divide_the_ranks(const RuleContext& rule) {
  const auto& parallel = rule.recipe.parallel;
  if (parallel.shard.group.automatic() || parallel.shard.by_node()) return;
  const auto group = *parallel.shard.group.value->value();
  const auto ids = std::ssize(parallel.devices.ids);
  const auto devices = ids > 0 ? ids : parallel.devices.count.value.value_or(0);
  if (devices % group != 0)
    rule.error("parallel.shard.group", "{} ranks cannot be divided into groups of {}", devices,
               group);
}

void sums_have_ranks(const RuleContext& rule) {
  const auto& parallel = rule.recipe.parallel;
  if (parallel.sums == Sums::ordered && !has_ranks(parallel.mode))
    rule.warn("parallel.sums", "only modes with a process per device sum over ranks");
  if (parallel.sums == Sums::ordered && parallel.ddp.comm.power_sgd)
    rule.error("parallel.sums", "PowerSGD sums compressed gradients; 'sums: backend' goes with it");
}

void there_are_ranks_to_restart(const RuleContext& rule) {
  if (has_ranks(rule.recipe.parallel.mode)) return;
  const auto* why = "only modes with a process per device have ranks to start again";
  if (rule.recipe.policy.on_rank_failure == OnRankFailure::restart)
    rule.warn("policy.on_rank_failure", why);
  if (rule.recipe.parallel.restarts > 0) rule.warn("parallel.restarts", why);
}

constexpr Rule kDeviceRules[] = {
    {{"devices-without-mode", "Several devices want a mode that uses them.",
      "Mode none trains on one device and would leave the others idle.", "parallel: {devices: 2}",
      "parallel: {mode: ddp, devices: 2}"},
     one_device_without_a_mode},
    {{"device-list", "A list of devices names CUDA devices.",
      "A CPU has no numbered devices: there, ranks or replicas are only counted.",
      "parallel: {mode: ddp, device: cpu, devices: [0, 1]}",
      "parallel: {mode: ddp, device: cpu, devices: 2}"},
     listed_devices_are_cuda},
    {{"device-twice", "A device is listed once.",
      "Two ranks on one GPU wait for each other in every collective of NCCL.",
      "parallel: {mode: ddp, device: cuda, devices: [0, 0]}",
      "parallel: {mode: ddp, device: cuda, devices: [0, 1]}"},
     each_device_is_listed_once},
    {{"device-count", "A list of devices says how many there are.",
      "count and ids contradict each other, and only the list would be used.",
      "parallel: {mode: ddp, device: cuda, devices: {count: 4, ids: [0, 1]}}",
      "parallel: {mode: ddp, device: cuda, devices: [0, 1]}"},
     devices_are_counted_once},
    {{"sync-bn", "sync_bn wants a model with batch norm.",
      "Statistics over all devices are those of batch norm; other norms look at one sample. "
      "'sync_bn: auto' does it where the model has batch norm and there are several devices.",
      "model: vit_b_16\nparallel: {mode: ddp, sync_bn: true}",
      "model: resnet18\nparallel: {mode: ddp, sync_bn: true}"},
     sync_bn_has_batch_norm},
    {{"sync-bn-alone", "sync_bn wants several devices.",
      "One device's batch is the whole batch, so its statistics already are those of the whole "
      "batch.",
      "parallel: {sync_bn: true}", "parallel: {mode: ddp, sync_bn: true}"},
     sync_bn_has_devices},
};

constexpr Rule kParallelRules[] = {
    {{"ddp-options", "Only modes with a process per device read 'parallel.ddp'.",
      "Buckets, unused parameters and buffers are matters of one process per device.",
      "parallel: {ddp: {static_graph: true}}", "parallel: {mode: ddp, ddp: {static_graph: true}}"},
     ddp_options_are_read},
    {{"static-graph", "static_graph and find_unused_parameters exclude each other.",
      "With a promise that every step uses the same parameters nothing is left to look for.",
      "parallel: {mode: ddp, ddp: {static_graph: true, find_unused_parameters: true}}",
      "parallel: {mode: ddp, ddp: {find_unused_parameters: true}}"},
     unused_parameters_are_looked_for},
    {{"power-sgd", "PowerSGD wants gradients of one scale.",
      "What a step has lost is added to the next one, and the loss scale of fp16 moves.",
      "train: {precision: fp16}\nparallel: {mode: ddp, ddp: {comm: {power_sgd: 1}}}",
      "train: {precision: bf16}\nparallel: {mode: ddp, ddp: {comm: {power_sgd: 1}}}"},
     gradients_that_are_compressed_have_one_scale},
    {{"timeout", "Time-outs are times.",
      "Ranks wait for each other by the clock, whatever an epoch or a step takes.",
      "parallel: {mode: ddp, timeout: {step: 1 epoch}}",
      "parallel: {mode: ddp, timeout: {step: 10 min}}"},
     time_outs_are_times},
    {{"timeout-alone", "Only modes with a process per device have time-outs.",
      "They bound how long ranks wait for each other; the other modes are one process.",
      "parallel: {timeout: {step: 10 min}}", "parallel: {mode: ddp, timeout: {step: 10 min}}"},
     time_outs_have_ranks},
    {{"shard-comm", "Gradients of which a rank gets a slice travel whole.",
      "PowerSGD and rounding on the way are mode ddp's; zero1 rounds, too.",
      "parallel: {mode: fsdp, devices: 2, ddp: {comm: {power_sgd: 1}}}",
      "parallel: {mode: fsdp, devices: 2}"},
     sharded_gradients_travel_whole},
    {{"shard-group",
      "Only zero2 and fsdp share among groups of ranks, and sum before the last micro-batch.",
      "zero1 cuts the buckets of all ranks, and in the other modes each rank has everything.",
      "parallel: {mode: zero1, devices: 4, shard: {group: 2}}",
      "parallel: {mode: fsdp, devices: 4, shard: {group: 2}}"},
     shards_are_of_units},
    {{"shard-groups", "Groups of ranks are of the same size.",
      "Each group has a whole model, and a rank the same part of it as one of each other group.",
      "parallel: {mode: fsdp, devices: 4, shard: {group: 3}}",
      "parallel: {mode: fsdp, devices: 4, shard: {group: 2}}"},
     groups_divide_the_ranks},
    {{"ordered-sums", "Ordered sums are of ranks.",
      "The other modes are one process, whose sums have an order already.",
      "parallel: {sums: ordered}", "parallel: {mode: ddp, sums: ordered}"},
     sums_have_ranks},
    {{"restart", "Only modes with a process per device can start a rank again.",
      "The other modes are one process: when it dies, no process is left to restart it.",
      "policy: {on_rank_failure: restart}",
      "parallel: {mode: ddp}\npolicy: {on_rank_failure: restart}"},
     there_are_ranks_to_restart},
};

}  // namespace

std::vector<Rule> device_rules() { return {std::begin(kDeviceRules), std::end(kDeviceRules)}; }
std::vector<Rule> parallel_rules() {
  return {std::begin(kParallelRules), std::end(kParallelRules)};
}

}  // namespace ddptrain
