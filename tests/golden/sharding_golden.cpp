// Which rank gets which samples: our layouts against index lists of the peers.
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/decode.h"
#include "sources/order/layouts.h"
#include "sources/order/shard.h"
#include "sources/sampler.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using golden::Case;
using nlohmann::json;

/// What a recipe with this `loader` section gives; `batch` is each rank's.
ShardPlan plan_of(const json& loader, std::int64_t world, std::int64_t batch) {
  const auto spec = decode<LoaderSpec>(to_node(loader));
  return shard_plan(spec, {.global = world * batch, .world = world});
}

Batches rank_batches(std::int64_t n, const ShardPlan& plan, std::int64_t rank) {
  Batches batches;
  for (auto& step : shard(n, plan, rank))
    for (auto& micro : step)
      if (!micro.positions.empty()) batches.push_back(std::move(micro.positions));
  return batches;
}

Rows flat(const Batches& batches) {
  Rows all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

/// The samples at positions of an order; without an order a position is its sample.
Batches samples(Batches positions, const Rows& order) {
  if (order.empty()) return positions;
  for (auto& batch : positions)
    for (auto& p : batch) p = order.at(static_cast<std::size_t>(p));
  return positions;
}

void expect_ranks(const Case& c, const ShardPlan& plan, const Rows& order = {}) {
  const std::int64_t n = c.input.at("n");
  for (std::int64_t r = 0; r < plan.world; ++r)
    EXPECT_EQ(json(samples(rank_batches(n, plan, r), order)), c.expect.at("ranks").at(r))
        << "rank " << r;
}

void expect_flat_ranks(const Case& c, const ShardPlan& plan, const Rows& order = {}) {
  const std::int64_t n = c.input.at("n");
  for (std::int64_t r = 0; r < plan.world; ++r)
    EXPECT_EQ(json(flat(samples(rank_batches(n, plan, r), order))), c.expect.at("ranks").at(r))
        << "rank " << r;
}

/// What all ranks saw at a step, in rank order, each sample where it first comes.
Rows gathered(std::int64_t n, const ShardPlan& plan, std::size_t step, std::vector<bool>& seen) {
  Rows rows;
  for (std::int64_t r = 0; r < plan.world; ++r) {
    const auto batches = rank_batches(n, plan, r);
    for (const auto p : batches.at(step)) {
      if (!seen[static_cast<std::size_t>(p)]) rows.push_back(p);
      seen[static_cast<std::size_t>(p)] = true;
    }
  }
  return rows;
}

GOLDEN(sharding, fastai_contiguous) {
  const auto plan = plan_of({{"shard", "contiguous"}, {"drop_last", c.input.at("drop_last")}},
                            c.input.at("world"), c.input.at("batch"));
  const std::int64_t n = c.input.at("n");
  const Rows order = c.input.value("order", Rows{});
  expect_ranks(c, plan, order);
  const auto steps = rank_batches(n, plan, 0).size();
  EXPECT_EQ(steps, c.expect.at("steps"));
  std::vector<bool> seen(static_cast<std::size_t>(n));
  Batches rows;
  for (std::size_t s = 0; s < steps; ++s) rows.push_back(gathered(n, plan, s, seen));
  EXPECT_EQ(json(samples(rows, order)), c.expect.at("gathered_rows"));
  EXPECT_EQ(flat(rows).size(), c.expect.at("gathered_total"));
}

GOLDEN(sharding, fastai_counts) {
  const auto plan = plan_of({{"shard", "contiguous"}, {"drop_last", c.input.at("drop_last")}},
                            c.input.at("world"), c.input.at("batch"));
  const std::int64_t n = c.input.at("n");
  const auto batches = rank_batches(n, plan, c.input.at("rank"));
  const auto rows = contiguous_rows(n, {c.input.at("rank"), plan.world});
  EXPECT_EQ(rows.size(), c.expect.at("samples_of_rank"));
  EXPECT_EQ(rows.front(), c.expect.at("first"));
  EXPECT_EQ(rows.back(), c.expect.at("last"));
  EXPECT_EQ(batches.size(), c.expect.at("steps"));
  EXPECT_EQ(rows.size() * static_cast<std::size_t>(plan.world) - static_cast<std::size_t>(n),
            c.expect.at("duplicates"));
}

GOLDEN(sharding, fastai_interleaved) {
  expect_ranks(c, plan_of({{"shard", "interleaved"}, {"drop_last", c.input.at("drop_last")}},
                          c.input.at("world"), c.input.at("batch")));
}

GOLDEN(sharding, torch_distributed_sampler) {
  const bool drop = c.input.at("drop_last");
  const auto plan = plan_of({{"shard", "interleaved"}, {"drop_last", false}, {"pad", !drop}},
                            c.input.at("world"), 1);
  Rows order;
  if (c.input.at("shuffle")) {
    const auto choice = fragment<Sampler>({{"type", "shuffle"}, {"order", "torch"}});
    const SamplerContext context{c.input.at("n"), {}, c.input.at("seed")};
    order = catalog<Sampler>().build(choice, context)->order(c.input.at("epoch"));
  }
  expect_flat_ranks(c, plan, order);
}

GOLDEN(sharding, timm_ordered) {
  expect_flat_ranks(
      c, plan_of({{"shard", "interleaved"}, {"drop_last", false}}, c.input.at("world"), 1));
}

/// Our own layout with a batch of one row a rank: nothing is repeated or left out.
GOLDEN(sharding, lightning_unrepeated) {
  expect_flat_ranks(c, plan_of({{"drop_last", false}}, c.input.at("world"), 1));
}

GOLDEN(sharding, timm_repeat_aug) {
  const std::int64_t n = c.input.at("n"), world = c.input.at("world");
  const std::int64_t each = (n + world - 1) / world;
  const auto choice = fragment<Sampler>({{"type", "repeat_aug"},
                                         {"order", "torch"},
                                         {"repeats", c.input.at("repeats")},
                                         {"samples", each * world}});
  const auto order =
      catalog<Sampler>().build(choice, SamplerContext{n, {}, 0})->order(c.input.at("epoch"));
  const auto plan = plan_of({{"shard", "interleaved"}, {"drop_last", false}}, world, 1);
  for (std::int64_t r = 0; r < world; ++r)
    EXPECT_EQ(json(flat(samples(rank_batches(each * world, plan, r), order))),
              c.expect.at("ranks").at(r));
}

/// A case of Accelerate's shards as a plan: with split_batches the case's batch is the global one.
ShardPlan accelerate_plan(const json& input, bool even) {
  const bool whole = input.at("split_batches");
  const std::int64_t world = input.at("world"), batch = input.at("batch");
  const json loader = {{"shard", whole ? "split" : "round_robin"},
                       {"drop_last", input.at("drop_last")},
                       {"pad", even}};
  auto plan = plan_of(loader, world, batch);
  if (whole) plan.global = batch;
  return plan;
}

GOLDEN(sharding, accelerate_batch_sampler_shard) {
  const auto plan = accelerate_plan(c.input, c.input.at("even_batches"));
  if (c.expect.contains("error_in_peer"))
    EXPECT_THROW(shard(c.input.at("n"), plan, 0), Error);
  else
    expect_ranks(c, plan);
}

GOLDEN(sharding, accelerate_iterable_shard) {
  const auto plan = accelerate_plan(c.input, true);
  if (c.expect.contains("error_in_peer"))
    EXPECT_THROW(shard(c.input.at("n"), plan, 0), Error);
  else
    expect_flat_ranks(c, plan);
}

GOLDEN(sharding, accelerate_varying_batches) {
  const Batches all = c.input.at("batches");
  const std::int64_t world = c.input.at("world");
  for (std::int64_t r = 0; r < world; ++r)
    EXPECT_EQ(json(dealt(all, {r, world}, {{}, false, c.input.at("even_batches")})),
              c.expect.at("ranks").at(r));
}

GOLDEN(sharding, accelerate_skip_first_batches) {
  auto plan = plan_of({{"shard", "round_robin"}, {"drop_last", c.input.at("drop_last")}}, 1,
                      c.input.at("batch"));
  plan.pad = false;
  EXPECT_EQ(json(skip_first(rank_batches(c.input.at("n"), plan, 0), c.input.at("skip"))),
            c.expect.at("batches"));
}

GOLDEN(sharding, accelerate_seedable_sampler) {
  const auto choice = fragment<Sampler>({{"type", "shuffle"}, {"order", "torch"}});
  const auto sampler =
      catalog<Sampler>().build(choice, SamplerContext{c.input.at("n"), {}, c.input.at("seed")});
  for (std::int64_t e = 0; e < c.input.at("epochs"); ++e)
    EXPECT_EQ(json(sampler->order(e)), c.expect.at("orders").at(e));
}

GOLDEN(sharding, accelerate_split_between_processes) {
  const std::int64_t world = c.input.at("world");
  for (std::int64_t r = 0; r < world; ++r)
    EXPECT_EQ(json(split_between(c.input.at("n"), {r, world}, c.input.at("pad"))),
              c.expect.at("ranks").at(r));
}

GOLDEN(sharding, dp_scatter) {
  EXPECT_EQ(json(scatter_sizes(c.input.at("n"), c.input.at("devices"))), c.expect.at("sizes"));
}

}  // namespace
}  // namespace ddptrain
