// Windows of engines, and what their gradients have in common.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "nets.h"
#include "sources/order/shard.h"
#include "support/node.h"
#include "support/ranks.h"

namespace ddptrain::test {

/// How a global batch is cut: into micro-steps, and these over ranks.
struct Cut {
  std::int64_t accumulate = 1;
  int rank = 0;
  int world = 1;
};

/// Copies.
inline std::map<std::string, at::Tensor> by_name(const std::vector<NamedTensor>& tensors) {
  std::map<std::string, at::Tensor> named;
  for (const auto& [name, tensor] : tensors) named.emplace(name, tensor.detach().clone());
  return named;
}

/// Of three classes with weights, or of the tokens of a vocabulary.
inline std::unique_ptr<Loss> loss_for(const Batch& batch) {
  if (batch.targets.at(0).dim() == 1)
    return std::make_unique<CrossEntropy>(std::vector<double>{1, 0.5, 2});
  return catalog<Loss>().build(fragment<Loss>("cross_entropy"), LossContext{});
}

/// One window of an engine on its part of a global batch: its numbers, where they were made.
inline at::Tensor sum_window(Engine& engine, const Batch& batch, const Cut& by, MicroStep at) {
  const auto loss = loss_for(batch);
  engine.begin();
  const auto micro = cut(batch.rows, by.accumulate);
  for (std::size_t a = 0; a + 1 < micro.size(); ++a) {
    const auto piece = cut(micro[a + 1] - micro[a], by.world);
    const auto r = static_cast<std::size_t>(by.rank);
    at.last = a + 2 == micro.size();
    engine.accumulate(slice(batch, micro[a] + piece[r], piece[r + 1] - piece[r]), *loss, at);
  }
  return engine.sum(false);
}

inline StepTotals run_window(Engine& engine, const Batch& batch, const Cut& by, MicroStep at) {
  return engine.totals(sum_window(engine, batch, by, at).cpu());
}

using Tensors = std::vector<at::Tensor>;

/// Copies of all gradients as means over the batch; undefined where there is none.
inline Tensors mean_gradients(Engine& engine, double factor) {
  Tensors all;
  for (const auto& [name, parameter] : engine.model().named_parameters())
    all.push_back(parameter.grad().defined() ? parameter.grad().mul(factor).to(at::kDouble)
                                             : at::Tensor());
  return all;
}

/// A few steps of gradient descent; the mean gradients of every step, one after the other.
inline Tensors descend(Engine& engine, const std::vector<Batch>& batches, const Cut& by) {
  Tensors all;
  MicroStep at;
  at.seed = 11;
  at.nominal = 5;
  for (const auto& batch : batches) {
    const auto totals = run_window(engine, batch, by, at);
    const auto gradients = mean_gradients(engine, at.nominal / totals.weight);
    all.insert(all.end(), gradients.begin(), gradients.end());
    std::size_t i = 0;
    for (const auto& [name, parameter] : engine.model().named_parameters())
      if (const auto& gradient = gradients[i++]; gradient.defined())
        parameter.detach().add_(gradient, -0.5);
    engine.parameters_changed();
    ++at.step;
  }
  return all;
}

inline double length(const at::Tensor& tensor) { return tensor.norm().item<double>(); }

/// Relative L2 distance of all tensors together.
inline double distance(const Tensors& a, const Tensors& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() && !b[i].defined()) continue;
    difference += std::pow(length(a[i] - b[i]), 2);
    size += std::pow(length(b[i]), 2);
  }
  return std::sqrt(difference / size);
}

inline EngineOptions in_double() {
  EngineOptions options;
  options.numerics.parameters = at::kDouble;
  options.bucket_bytes = 256;  // several buckets even in a small net
  return options;
}

inline Tensors by_single(const ModelFactory& model, const std::vector<Batch>& batches,
                         const EngineOptions& options = in_double(), std::int64_t accumulate = 1) {
  const auto engine = make_single_engine(model, options);
  return descend(*engine, batches, {accumulate, 0, 1});
}

inline Tensors by_dp(const ModelFactory& model, const std::vector<Batch>& batches,
                     EngineOptions options, int replicas, std::int64_t accumulate = 1) {
  options.replicas = replicas;
  const auto engine = make_dp_engine(model, options);
  return descend(*engine, batches, {accumulate, 0, 1});
}

/// Every rank's gradients; they must be the same to the last bit.
inline Tensors by_ddp(const ModelFactory& model, const std::vector<Batch>& batches,
                      const EngineOptions& options, int ranks, std::int64_t accumulate = 1) {
  std::vector<Tensors> all(static_cast<std::size_t>(ranks));
  play_all(ranks, [&](World& world) {
    auto own = options;  // autograd has one thread for all that a process does on one device
    if (!own.device.is_cpu())
      own.device = {own.device.type(), static_cast<at::DeviceIndex>(world.rank)};
    const auto engine = make_ddp_engine(model, own, world);
    all[static_cast<std::size_t>(world.rank)] =
        descend(*engine, batches, {accumulate, world.rank, ranks});
  });
  for (const auto& rank : all)
    for (std::size_t i = 0; i < rank.size(); ++i)
      EXPECT_TRUE(rank[i].defined() ? at::equal(rank[i].cpu(), all[0][i].cpu())
                                    : !all[0][i].defined());
  return all[0];
}

inline void expect_same(const Tensors& actual, const Tensors& expected) {
  double whole = 0;
  for (const auto& tensor : expected)
    if (tensor.defined()) whole = std::hypot(whole, length(tensor));
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].defined(), expected[i].defined()) << "tensor " << i;
    if (!expected[i].defined()) continue;
    const double size = length(expected[i]);
    const double difference = length(actual[i] - expected[i]);
    EXPECT_LE(difference, size < 1e-12 * whole ? 1e-12 * whole : 1e-10 * size) << "tensor " << i;
  }
  EXPECT_LE(distance(actual, expected), 1e-12);
}

}  // namespace ddptrain::test
