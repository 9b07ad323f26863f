#include "sources/order/shard.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "sources/order/layouts.h"

namespace ddptrain {
namespace {

std::vector<Micro> global_step(std::int64_t first, std::int64_t count, const ShardPlan& plan,
                               std::int64_t rank) {
  std::vector<Micro> micros;
  const auto starts = cut(count, plan.accumulate);
  const auto r = static_cast<std::size_t>(rank);
  for (std::size_t a = 0; a + 1 < starts.size(); ++a) {
    const auto pieces = cut(starts[a + 1] - starts[a], plan.world);
    Micro micro;
    micro.first_row = starts[a] + pieces[r];
    micro.positions.resize(static_cast<std::size_t>(pieces[r + 1] - pieces[r]));
    std::iota(micro.positions.begin(), micro.positions.end(), first + micro.first_row);
    micros.push_back(std::move(micro));
  }
  return micros;
}

RankPlan global_batches(std::int64_t length, const ShardPlan& plan, std::int64_t rank) {
  RankPlan steps;
  for (std::int64_t first = 0; first < length; first += plan.global) {
    const auto count = std::min(plan.global, length - first);
    if (count < plan.global && plan.drop_last) break;
    steps.push_back(global_step(first, count, plan, rank));
  }
  return steps;
}

/// Rows per rank and micro-step under the peers' layouts.
std::int64_t rows_per_rank(const ShardPlan& plan) {
  const auto parts = plan.world * plan.accumulate;
  if (plan.global % parts != 0)
    throw Error(Exit::recipe, Option{"data.loader.shard"},
                "'{}' cannot cut a global batch of {} into {} equal ones (ranks x accumulate); "
                "'global_batch' can",
                names(plan.layout)[static_cast<int>(plan.layout)], plan.global, parts);
  return plan.global / parts;
}

Batches peer_batches(std::int64_t length, const ShardPlan& plan, std::int64_t rank) {
  const RankOf who{rank, plan.world};
  const auto batch = rows_per_rank(plan);
  switch (plan.layout) {
    case Layout::contiguous:
      return batched(contiguous_rows(length, who), batch, plan.drop_last);
    case Layout::interleaved:
      return batched(interleaved_rows(length, who, plan.pad), batch, plan.drop_last);
    case Layout::round_robin:
      return dealt(batched(length, batch, plan.drop_last), who, {batch, plan.drop_last, plan.pad});
    case Layout::split: {
      const auto whole = batch * plan.world;
      return split(batched(length, whole, plan.drop_last), who, {whole, plan.drop_last, plan.pad});
    }
    case Layout::dispatch:
      return dispatched(batched(length, batch, plan.drop_last), who, plan.drop_last, false);
    case Layout::global_batch:
      break;
  }
  DDP_CHECK(false, "not a peer's layout");
  return {};
}

/// Windows of `accumulate` micro-steps; the last may be shorter, as it is for the peers.
RankPlan in_windows(Batches batches, const ShardPlan& plan, std::int64_t rank) {
  RankPlan steps;
  const auto batch = rows_per_rank(plan);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const auto a = static_cast<std::int64_t>(i) % plan.accumulate;
    if (a == 0) steps.emplace_back();
    steps.back().push_back({std::move(batches[i]), (a * plan.world + rank) * batch});
  }
  return steps;
}

}  // namespace

ShardPlan shard_plan(const LoaderSpec& loader, const StepSize& step) {
  return {loader.shard, step.world, step.global, step.accumulate, loader.drop_last, loader.pad};
}

RankPlan shard(std::int64_t length, const ShardPlan& plan, std::int64_t rank) {
  DDP_CHECK(plan.world > 0 && plan.global > 0 && plan.accumulate > 0, "an empty plan");
  DDP_CHECK(rank >= 0 && rank < plan.world, "no such rank");
  if (plan.layout == Layout::global_batch) return global_batches(length, plan, rank);
  auto batches = peer_batches(length, plan, rank);
  // Without padding a rank may run out of rows early; rank 0 never does so before another.
  if (!plan.pad) batches.resize(peer_batches(length, plan, 0).size());
  return in_windows(std::move(batches), plan, rank);
}

std::vector<Micro> evaluation_batches(const EvaluationCut& cut, std::int64_t rank,
                                      std::int64_t world) {
  std::vector<Micro> micros;
  for (std::int64_t index = 0; index * cut.batch < cut.length; ++index) {
    if (cut.rank_of(index, world) != rank) continue;
    const auto first = index * cut.batch;
    Micro micro;
    micro.positions.resize(static_cast<std::size_t>(std::min(cut.batch, cut.length - first)));
    std::iota(micro.positions.begin(), micro.positions.end(), first);
    if (cut.streams > 0) micro.first_row = first % cut.streams;
    micros.push_back(std::move(micro));
  }
  return micros;
}

std::vector<std::int64_t> cut(std::int64_t count, std::int64_t pieces) {
  DDP_CHECK(count >= 0 && pieces > 0, "nothing to cut");
  std::vector<std::int64_t> starts{0};
  for (std::int64_t i = 0; i < pieces; ++i)
    starts.push_back(starts.back() + count / pieces + (i < count % pieces ? 1 : 0));
  return starts;
}

}  // namespace ddptrain
