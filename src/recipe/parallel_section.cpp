// The options of section parallel but those of its engines.
#include "base/names.h"
#include "recipe/recipe.h"

namespace ddptrain {

std::span<const std::string_view> names(Offload) { return kNameList<"none", "optimizer">; }

std::span<const std::string_view> names(RanksOf) { return kNameList<"node">; }

void Devices::fields(Fields& f) {
  f("count", count, {.doc = "How many devices; on the CPU, ranks or replicas.", .min = 1});
  f("ids", ids, {.doc = "Which CUDA devices; empty means the first ones.", .min = 0});
}

void TimeoutSpec::fields(Fields& f) {
  f("start", start, {.doc = "How long ranks wait for each other at the start.", .unit = "time"});
  f("step", step,
    {.doc = "How long a rank waits in a collective before the run ends.", .unit = "time"});
}

void ParallelSpec::fields(Fields& f) {
  f("mode", mode, {.doc = modes_sentence()});
  f("device", device, {.doc = "auto takes CUDA where there is a GPU."});
  f("devices", devices, {.doc = "How many devices or which: auto, 2, or [0, 2]."});
  f("sync_bn", sync_bn,
    {.doc = "Batch-norm statistics over all devices; auto: where the model has batch norm and "
            "there are several."});
  f("ddp", ddp,
    {.doc = "Options of mode ddp, named as in PyTorch; zero1, zero2 and fsdp read them too."});
  f("shard", shard, {.doc = "How zero2 and fsdp share what each rank has a part of."});
  f("sums", sums,
    {.doc = "How gradients are summed over ranks: as what they go through does it (Gloo, NCCL; "
            "shared memory of one machine: in order of ranks), or ordered, in order of ranks, so "
            "that ddp, zero1, zero2 and fsdp get the same bits."});
  f("affinity", affinity,
    {.doc = "cores: each rank and its loading threads run on their own share of the machine's "
            "cores, those of one NUMA node where it has several, near its GPU; none: where the "
            "system puts them."});
  f("nodes", nodes,
    {.doc = "How many machines train together, a process started on each; devices are those of "
            "all. auto: as a launcher says, else one.",
     .min = 1});
  f("rendezvous", rendezvous,
    {.doc = "Where the nodes meet, if no launcher says: HOST:PORT of the first, the same on all; "
            "the port is 29500 if it is left out.",
     .example = "node0:29500"});
  f("timeout", timeout, {.doc = "How long ranks wait for each other."});
  f("restarts", restarts,
    {.doc = "How often all ranks start again from the newest checkpoint after one died, hung or "
            "lost its node; none where the last start saved nothing new. 0 leaves it to "
            "policy.on_rank_failure.",
     .min = 0});
}

}  // namespace ddptrain
