// Real runs of Accelerate with several processes: what ranks load, what evaluation sees, and what
// accumulation should give.
#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "config/decode.h"
#include "losses/loss.h"
#include "sources/order/layouts.h"
#include "sources/order/shard.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;

ShardPlan plan_of(const json& loader, const StepSize& step) {
  return shard_plan(decode<LoaderSpec>(to_node(loader)), step);
}

Batches shard_batches(const json& input, const std::string& layout, bool pad, std::int64_t rank) {
  const std::int64_t world = input.at("world"), batch = input.at("batch");
  const json loader = {{"shard", layout}, {"drop_last", input.at("drop_last")}, {"pad", pad}};
  const auto global = layout == "split" ? batch : batch * world;
  Batches batches;
  for (auto& step : shard(input.at("n"), plan_of(loader, {.global = global, .world = world}), rank))
    for (auto& micro : step)
      if (layout == "dispatch" || !micro.positions.empty())
        batches.push_back(std::move(micro.positions));
  return batches;
}

Batches loaded(const json& input, std::int64_t rank) {
  const std::string mode = input.at("mode");
  if (mode == "split") return shard_batches(input, "split", true, rank);
  if (mode == "default" || mode == "uneven")
    return shard_batches(input, "round_robin", mode == "default", rank);
  if (mode == "dispatch") return shard_batches(input, "dispatch", true, rank);
  const auto all =
      batched(input.at("n").get<std::int64_t>(), input.at("batch"), input.at("drop_last"));
  return dispatched(all, {rank, input.at("world")}, input.at("drop_last"), true);
}

// Where Accelerate raises (a dispatched epoch without a whole round) ours is empty.
GOLDEN(accelerate, loader) {
  const bool raises = c.expect.contains("error_in_peer");
  for (std::int64_t rank = 0; rank < c.input.at("world"); ++rank) {
    const json ours = loaded(c.input, rank);
    EXPECT_EQ(ours, raises ? json::array() : c.expect.at("ranks").at(rank)) << "rank " << rank;
  }
  if (raises) return;
  EXPECT_EQ(loaded(c.input, 0).size(), c.expect.at("end_of_loader").size());
}

/// Evaluation batches of all ranks, put back in the order of the data.
std::vector<Micro> all_evaluation_batches(std::int64_t n, std::int64_t batch, std::int64_t world) {
  std::vector<Micro> all;
  for (std::int64_t rank = 0; rank < world; ++rank)
    for (auto& micro : evaluation_batches({n, batch}, rank, world)) all.push_back(std::move(micro));
  std::sort(all.begin(), all.end(),
            [](const Micro& a, const Micro& b) { return a.positions[0] < b.positions[0]; });
  return all;
}

GOLDEN(accelerate, gather_for_metrics) {
  json rows = json::array();
  double sum = 0;
  for (const auto& micro :
       all_evaluation_batches(c.input.at("n"), c.input.at("batch"), c.input.at("world")))
    for (const auto position : micro.positions) {
      rows.push_back(10 * position);
      sum += static_cast<double>(position);
    }
  EXPECT_EQ(rows, c.expect.at("rows"));
  EXPECT_EQ(rows.size(), c.expect.at("count"));
  EXPECT_NEAR(sum / static_cast<double>(rows.size()), golden::number(c.expect.at("true_mean")),
              1e-6);
}

/// y = weight x + bias for x = -1 .. 1, y = 2 x + 3: the peer's task.
struct Line {
  at::Tensor weight = at::zeros({1}, at::kDouble).set_requires_grad(true);
  at::Tensor bias = at::full({1}, 0.5, at::kDouble).set_requires_grad(true);
};

/// Adds the gradients of a micro-batch's loss sum; returns the weight of the sum.
double add_gradients(const Line& line, const Loss& loss, const Micro& micro, std::int64_t n) {
  const auto rows = static_cast<std::int64_t>(micro.positions.size());
  if (rows == 0) return 0;
  auto x = at::zeros({rows, 1}, at::kDouble);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto place = static_cast<double>(micro.positions[static_cast<std::size_t>(i)]);
    x.select(0, i).fill_(n > 1 ? -1 + 2 * place / static_cast<double>(n - 1) : -1);
  }
  const auto terms = loss(x.mul(line.weight).add(line.bias), x.mul(2).add(3));
  terms.values.sum().backward();
  return terms.weights.sum().item<double>();
}

// Every window's gradient is the sum over its micro-batches and ranks by the sum of weights.
GOLDEN(accelerate, accumulate) {
  const std::int64_t n = c.input.at("n"), world = c.input.at("world"), steps = c.input.at("steps");
  const StepSize step{c.input.at("batch").get<std::int64_t>() * world * steps, steps, world};
  const auto plan = plan_of({{"shard", "global_batch"}, {"drop_last", false}}, step);
  const auto loss = catalog<Loss>().build(fragment<Loss>("mse"), LossContext{});
  const Line line;
  int updates = 0;
  for (int epoch = 0; epoch < c.input.at("epochs"); ++epoch)
    for (std::size_t k = 0; k < shard(n, plan, 0).size(); ++k, ++updates) {
      double weight = 0;
      for (std::int64_t rank = 0; rank < world; ++rank) {
        const auto steps_of_rank = shard(n, plan, rank);
        for (const auto& micro : steps_of_rank.at(k))
          weight += add_gradients(line, *loss, micro, n);
      }
      const double lr = c.input.at("lr").get<double>() / (1 + updates);
      for (auto parameter : {line.weight, line.bias}) {
        parameter.detach().sub_(parameter.grad(), lr / weight);
        parameter.mutable_grad().zero_();
      }
    }
  EXPECT_NEAR(line.weight.item<double>(), golden::number(c.expect.at("wanted_weight")), 1e-9);
  EXPECT_NEAR(line.bias.item<double>(), golden::number(c.expect.at("wanted_bias")), 1e-9);
}

}  // namespace
}  // namespace ddptrain
