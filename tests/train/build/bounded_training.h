// Training whose memory ends where a test says.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <c10/util/Exception.h>

#include "accelerator/accelerator.h"
#include "models/layers/norm.h"
#include "support/training_parts.h"

namespace ddptrain::test {

/// Samples of two numbers, of a width of their own from epoch 3 on.
class Growing final : public Dataset {
 public:
  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split) const override { return 64; }
  Batch allocate(Split, std::int64_t rows) const override { return wide(rows, 2); }
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const override {
    return wide(rows, epoch < 3 ? 2 : 4);
  }
  std::vector<std::int64_t> changes_of_shape() const override { return {0, 3}; }
  bool load(Split, std::int64_t, const Draw&, Batch&, std::int64_t) const override { return true; }
  std::string sample_name(Split, std::int64_t i) const override { return std::to_string(i); }
  std::int64_t label(Split, std::int64_t) const override { return -1; }
  std::string digest() const override { return "growing"; }

 private:
  static Batch wide(std::int64_t rows, std::int64_t width) {
    Batch batch;
    batch.rows = rows;
    batch.inputs = {at::empty({rows, width, 2}, at::kDouble)};
    batch.targets = {at::empty({rows}, at::kLong)};
    return batch;
  }
  DataFacts facts_;
};

/// The mean over the width, times a weight, then batch norm.
class Scaled final : public Model {
 public:
  Scaled() {
    factor_ = parameter("factor", at::ones({2}, at::kDouble));
    norm_ = make<BatchNorm>("norm", 2);
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    widest = std::max(widest, input.size(1));
    return norm_->forward(input.mean(1) * factor_, pass);
  }
  std::int64_t widest = 0;

 private:
  at::Tensor factor_;
  BatchNorm* norm_;
};

/// The sum of squares; of more than `most` rows there is no memory for it.
class Bounded final : public Loss {
 public:
  explicit Bounded(std::int64_t most) : most_(most) {}
  LossTerms operator()(const at::Tensor& output, const at::Tensor&) const override {
    TORCH_CHECK_WITH(OutOfMemoryError, output.size(0) <= most_, "CUDA out of memory.");
    auto values = output.square().sum(1);
    auto weights = at::ones_like(values.detach());
    return {std::move(values), std::move(weights)};
  }

 private:
  std::int64_t most_;
};

/// Of `Scaled`, by ddp. A device that is not the CPU is the simulated one.
inline Training training(World& world, std::int64_t most, DeviceKind device = DeviceKind::cpu) {
  Training t;
  t.world = &world;
  t.placement.ranks = world.size;
  t.placement.batch = {64 * world.size, 64, 1, world.size};
  t.placement.find_micro = true;
  t.data = std::make_unique<Growing>();
  t.loss = std::make_unique<Bounded>(most);
  EngineOptions options;
  options.numerics.parameters = at::kDouble;
  options.sync_bn = true;
  if (device != DeviceKind::cpu) {
    options.device = {accelerator(device).type(), 0};
    t.placement.ids = {0};
  }
  t.placement.device = device;
  t.engine = make_ddp_engine([] { return std::make_unique<Scaled>(); }, options, world);
  return t;
}

}  // namespace ddptrain::test
