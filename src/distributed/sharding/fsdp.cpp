// modes: zero2 and fsdp. A rank has a slice of each unit's weights, gradients and optimizer state;
// whole weights are there for a step (zero2) or while a block computes (fsdp), whole gradients
// while a block is in its backward pass (torch's FullyShardedDataParallel, with sums instead of
// means).
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/rank_window.h"
#include "distributed/replica.h"
#include "distributed/sharding/unit_walk.h"
#include "distributed/sharding/units.h"
#include "models/layers/deferred_init.h"

namespace ddptrain {
namespace {

/// The form that a parameter has once it is placed.
at::Tensor without_memory_like(const at::Tensor& parameter, const Numerics& numerics,
                               at::Device device) {
  auto form = at::empty(parameter.sizes(), at::TensorOptions(at::kMeta));
  if (numerics.channels_last && form.dim() == 4)
    form = form.contiguous(at::MemoryFormat::ChannelsLast);
  const auto options = parameter.options().device(device).dtype(numerics.parameters);
  return without_memory(parameter.numel(), options.requires_grad(false))
      .as_strided(form.sizes(), form.strides());
}

class UnitEngine final : public Engine, private ModelParts {
 public:
  UnitEngine(const ModelFactory& factory, const EngineOptions& options, World& world,
             Reshard reshard)
      : options_(options),
        world_(world),
        reshard_(reshard),
        replica_(built(factory), options, options.device, carried_),
        window_({options.find_unused_parameters, options.static_graph}) {
    agree(world, "the model's parameters", layout_of(replica_.parameters()));
    if (world.size > 1) broadcast_tensors(*world.gradients, replica_.buffers(), 0);
    units_->copy_to_groups();  // what other kinds of CPUs draw differs in the last bits
    units_->weights_changed();
    replica_.set_blocks(units_.get());
    note_trained();
  }

  Model& model() override { return replica_.model(); }
  ModelParts* parts() override { return this; }

  void freeze(const Frozen& frozen) override {
    ddptrain::freeze(replica_.model(), frozen);
    note_trained();
  }

  void begin() override {
    replica_.begin();
    units_->begin_window();
    window_.begin();
    if (options_.broadcast_buffers && !options_.sync_bn) broadcast_buffers();
  }

  /// A rank without rows makes the same collectives as the others.
  void accumulate(const Batch& batch, const Loss& loss, const MicroStep& at) override {
    window_.add(batch, at);
    const bool together = options_.sync_bn && !at.alone;
    units_->begin_pass(at.last);
    replica_.train(batch, loss, at, together ? world_.statistics.get() : nullptr);
    units_->end_pass();
  }

  at::Tensor sum(bool asked) override {
    const PhaseScope phase(Phase::communication);
    units_->finish_window();
    const auto used = window_.used(units_->used());
    auto numbers = window_.numbers(replica_.sums(), used, asked);
    (numbers.is_cpu() ? world_.control : world_.gradients)->all_reduce(numbers);
    units_->assign_gradients(window_.anywhere(used, numbers));
    look_at_gradients(numbers, units_->shards());
    return numbers;
  }

  StepTotals totals(const at::Tensor& numbers) const override { return window_.totals(numbers); }

  void broadcast_buffers() override { replica_.broadcast_buffers(*world_.gradients); }
  void parameters_changed() override { units_->weights_changed(); }

  at::Tensor forward(const Batch& batch, const Pass& pass) override {
    units_->begin_forward();
    auto output = replica_.forward(batch, pass);
    units_->end_forward();
    return output;
  }
  std::int64_t held_bytes() const override { return units_->held_bytes(); }
  PassCapture& capture() override { return capture_; }

 private:
  const Shards& shards() const override { return units_->shards(); }
  at::Tensor whole(const std::string& name) override {
    return shards().has(name) ? shards().whole(name) : at::Tensor();
  }
  bool assign(const NamedTensor& value) override {
    const auto& parameters = replica_.parameters();
    const auto found = std::ranges::find(parameters, value.name, &NamedTensor::name);
    if (found == parameters.end()) return false;
    units_->assign(static_cast<std::size_t>(found - parameters.begin()), value.tensor);
    return true;
  }
  void follow() override { units_->follow(); }
  Blocks* continuation_blocks() override { return walk_.get(); }
  void join_continuation() override { walk_->join(); }

  /// Of its parameters, which every rank draws, a rank keeps its pieces: one at a time is whole.
  std::unique_ptr<Model> built(const ModelFactory& factory) {
    const at::NoGradGuard no_grad;
    const auto& numerics = options_.numerics;
    DeferredInit deferred;
    auto model = factory();
    std::vector<at::Tensor> first;
    for (const auto& named : model->named_parameters()) {
      first.push_back(named.tensor.detach());
      named.tensor.set_data(without_memory_like(named.tensor, numerics, options_.device));
    }
    const UnitOptions units{options_.whole_tensors ? CutAt::parameters : CutAt::any_element,
                            reshard_, travelling_type(numerics), options_.reduces_last};
    units_ = std::make_unique<Units>(*model, model->named_parameters(), units, world_);
    walk_ = std::make_unique<UnitWalk>(*units_);
    deferred.materialize(std::move(first), [&](std::size_t parameter, const at::Tensor& value) {
      units_->assign(parameter, value);
    });
    for (const auto& named : model->named_buffers()) {
      const auto& buffer = named.tensor;
      buffer.set_data(buffer.to(options_.device, buffer.is_floating_point()
                                                     ? numerics.parameters
                                                     : buffer.scalar_type()));
    }
    return model;
  }

  void note_trained() {
    std::vector<std::string> names;
    for (const auto& named : replica_.trained())
      if (named.tensor.numel() > 0) names.push_back(named.name);
    units_->set_trained(names);
    window_.set_trained(std::move(names));
  }

  EngineOptions options_;
  World& world_;
  Reshard reshard_;
  std::unique_ptr<Units> units_;
  std::unique_ptr<UnitWalk> walk_;
  Replica replica_;
  RankWindow window_;
  NoPassCapture capture_{"weights of ranks come and go during a step"};
};

}  // namespace

std::unique_ptr<Engine> make_zero2_engine(const ModelFactory& factory, const EngineOptions& options,
                                          World& world) {
  return std::make_unique<UnitEngine>(factory, options, world, Reshard::step);
}

std::unique_ptr<Engine> make_fsdp_engine(const ModelFactory& factory, const EngineOptions& options,
                                         World& world) {
  return std::make_unique<UnitEngine>(factory, options, world, Reshard::block);
}

}  // namespace ddptrain
