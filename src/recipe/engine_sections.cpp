// The options of section parallel's engines.
#include "base/names.h"
#include "recipe/recipe.h"

namespace ddptrain {

std::span<const std::string_view> names(ShardReduce) { return kNameList<"each", "last">; }

std::span<const std::string_view> names(CommType) { return kNameList<"bf16", "fp16">; }

void PowerSgdSpec::fields(Fields& f) {
  f("rank", rank, {.doc = "Rank of the matrices that stand for a gradient.", .min = 1});
  f("start", start, {.doc = "Until then gradients travel whole.", .in_steps = true});
  f("min_compression_rate", min_compression_rate,
    {.doc = "A gradient that would not get smaller by more than this travels whole.",
     .min = 0,
     .above_min = true});
  f("error_feedback", error_feedback,
    {.doc = "Each rank adds what its last gradient lost to the next one."});
  f("warm_start", warm_start,
    {.doc = "Each step begins at the directions of the one before, not at random ones."});
  f("orthogonalization_epsilon", orthogonalization_epsilon,
    {.doc = "Added to the norm that a direction is divided by, up to rank 2.", .min = 0});
}

void CommSpec::fields(Fields& f) {
  f("dtype", dtype,
    {.doc = "Gradients are rounded to it before they are summed over ranks, which halves what "
            "travels; null leaves them."});
  f("power_sgd", power_sgd,
    {.doc = "PowerSGD: two thin matrices travel instead of each gradient; null sends gradients.",
     .example = "{rank: 1, start: 1000 steps}"});
}

void DdpSpec::fields(Fields& f) {
  f("bucket_cap_mb", bucket_cap_mb,
    {.doc = "Size of a gradient bucket, such as '25 MiB' or, in MiB, 25.", .unit = "MiB"});
  f("find_unused_parameters", find_unused_parameters,
    {.doc = "Search each forward pass for parameters that take no part."});
  f("static_graph", static_graph,
    {.doc = "Promise that every step uses the same parameters in the same order."});
  f("gradient_as_bucket_view", gradient_as_bucket_view,
    {.doc = "Gradients are views of the buckets: no copy."});
  f("broadcast_buffers", broadcast_buffers,
    {.doc = "Rank 0's buffers, such as batch-norm statistics, go to all before each forward "
            "pass."});
  f("comm", comm, {.doc = "How gradients travel between ranks."});
}

std::int64_t ShardSpec::ranks(std::int64_t all, std::int64_t on_node) const {
  if (group.automatic()) return all;
  return by_node() ? on_node : *group.value->value();
}

void ShardSpec::fields(Fields& f) {
  f("group", group,
    {.doc = "Ranks that have a model together; node: those of a node, auto: all. With fewer than "
            "all, each group has a whole model, and groups exchange gradients alone.",
     .min = 1,
     .unit = "ranks"});
  f("reduce", reduce,
    {.doc = "After which micro-batches of a step gradients are summed over ranks: each, so that a "
            "rank keeps its slice of the sums alone; last, which sends them once, keeps whole "
            "gradients meanwhile, and adds up in ddp's order."});
  f("offload", offload,
    {.doc = "What lies in the host's memory rather than a device's: the optimizer's state, which a "
            "step moves through two buffers of 32 MiB each on the device; the same bits."});
}

}  // namespace ddptrain
