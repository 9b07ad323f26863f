// Faults of training, for tests of `verify`: linked into a program of its own,
// build/ddptrain_faults, in place of functions that the linker's --wrap names
// (tests/CMakeLists.txt). DDPTRAIN_FAULT says which one is there; without it the program is the
// shipped one.
#include <ATen/core/Tensor.h>

#include <cstdlib>
#include <string_view>

#include "autograd/back_propagate.h"
#include "checkpoint/checkpoint.h"
#include "distributed/world.h"
#include "sources/order/shard.h"

namespace {

bool planted(std::string_view fault) {
  const char* name = std::getenv("DDPTRAIN_FAULT");
  return name != nullptr && fault == name;
}

int rank_here = -1;  // -1: this process trains nothing

}  // namespace

// The names that the linker gives to calls of these functions, and to the functions themselves.
#define JOIN _ZN8ddptrain4joinERKNS_8TopologyERKNS_11JoinOptionsE
#define BACKWARD _ZN8ddptrain14back_propagateERKN2at6TensorES3_
#define SHARD _ZN8ddptrain5shardElRKNS_9ShardPlanEl
#define LOAD _ZN8ddptrain14map_checkpointERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
#define NAME_OF(symbol) #symbol
#define IN_PLACE_OF(symbol) asm("__wrap_" NAME_OF(symbol))
#define ITSELF(symbol) asm("__real_" NAME_OF(symbol))

namespace ddptrain {

World real_join(const Topology& topology, const JoinOptions& options) ITSELF(JOIN);
World wrapped_join(const Topology& topology, const JoinOptions& options) IN_PLACE_OF(JOIN);
World wrapped_join(const Topology& topology, const JoinOptions& options) {
  rank_here = topology.rank;
  return real_join(topology, options);
}

void real_backward(const at::Tensor& output, const at::Tensor& gradient) ITSELF(BACKWARD);
void wrapped_backward(const at::Tensor& output, const at::Tensor& gradient) IN_PLACE_OF(BACKWARD);
/// gradient: those of rank 1 are too large by a thousandth.
void wrapped_backward(const at::Tensor& output, const at::Tensor& gradient) {
  const bool scales = planted("gradient") && rank_here == 1;
  real_backward(output, scales ? gradient.mul(1.001) : gradient);
}

RankPlan real_shard(std::int64_t length, const ShardPlan& plan, std::int64_t rank) ITSELF(SHARD);
RankPlan wrapped_shard(std::int64_t length, const ShardPlan& plan, std::int64_t rank)
    IN_PLACE_OF(SHARD);
/// sample: rank 1 leaves out one sample of each epoch, in the second step.
RankPlan wrapped_shard(std::int64_t length, const ShardPlan& plan, std::int64_t rank) {
  auto shares = real_shard(length, plan, rank);
  if (planted("sample") && rank == 1 && shares.size() > 1 && !shares[1][0].positions.empty())
    shares[1][0].positions.pop_back();
  return shares;
}

Checkpoint real_load(const std::string& folder) ITSELF(LOAD);
Checkpoint wrapped_load(const std::string& folder) IN_PLACE_OF(LOAD);
/// optimizer: a run that continues begins with a first tensor of the optimizer's state as new.
Checkpoint wrapped_load(const std::string& folder) {
  auto checkpoint = real_load(folder);
  if (!planted("optimizer") || rank_here < 0) return checkpoint;
  for (auto& [name, tensor] : checkpoint.optimizer) {
    if (!tensor.is_floating_point() || tensor.count_nonzero().item<std::int64_t>() == 0) continue;
    tensor.zero_();
    break;
  }
  return checkpoint;
}

}  // namespace ddptrain
