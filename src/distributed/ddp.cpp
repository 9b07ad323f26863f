// mode: ddp. One replica per rank; gradient buckets are summed over ranks during the window's last
// backward (torch.nn.parallel.DistributedDataParallel, with sums instead of means). mode: zero1 is
// the same with buckets of which each rank gets the sums of a slice.
#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "distributed/buckets.h"
#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/rank_window.h"
#include "distributed/replica.h"
#include "distributed/sharding/zero1.h"

namespace ddptrain {
namespace {

class DdpEngine final : public Engine, private PassCapture, private ReductionMemory {
 public:
  DdpEngine(const ModelFactory& factory, const EngineOptions& options, World& world,
            bool shares_state)
      : options_(options),
        world_(world),
        replica_(placed(factory(), options.numerics, options.device), options, options.device,
                 carried_),
        window_({options.find_unused_parameters, options.static_graph}) {
    if (shares_state)
      zero1_.emplace(replica_.parameters(), bucket_size(),
                     options.whole_tensors ? CutAt::parameters : CutAt::any_element, world);
    if (options.power_sgd && world.size > 1)
      compression_.emplace(*options.power_sgd, *world.gradients, options.wire_type);
    make_buckets();
    agree(world, "the model's parameters", layout_of(replica_.parameters()));
    broadcast_tensors(*world.gradients, replica_.state(), 0);
  }

  Model& model() override { return replica_.model(); }
  ModelParts* parts() override { return zero1_ ? &*zero1_ : nullptr; }

  void freeze(const Frozen& frozen) override {
    ddptrain::freeze(replica_.model(), frozen);
    make_buckets();
  }

  void begin() override {
    replica_.begin();
    buckets_->begin();
    window_.begin();
    // As torch's DDP: before the first forward of a window. Under sync_bn they are equal anyway.
    if (options_.broadcast_buffers && !options_.sync_bn) broadcast_buffers();
  }

  void accumulate(const Batch& batch, const Loss& loss, const MicroStep& at) override {
    window_.add(batch, at);
    if (at.last) buckets_->release(at.alone ? -1 : at.step);
    // Without rows there is nothing to add; only sync_bn needs this rank in its collectives.
    if (batch.rows == 0 && !options_.sync_bn) return;
    const bool together = options_.sync_bn && !at.alone;
    replica_.train(batch, loss, at, together ? world_.statistics.get() : nullptr);
  }

  at::Tensor sum(bool asked) override {
    const PhaseScope phase(Phase::communication);
    const auto used = window_.used(buckets_->used());
    auto numbers = window_.numbers(replica_.sums(), used, asked);
    if (numbers.is_cpu()) {  // while gradients are still under way
      const auto pending = world_.control->all_reduce_async(numbers);
      buckets_->finish();
      pending->wait();
    } else {  // behind them, since ranks differ in how many they have sent by now
      buckets_->finish();
      world_.gradients->all_reduce(numbers);
    }
    const auto anywhere = window_.anywhere(used, numbers);
    if (compression_) settle(numbers, anywhere);
    if (zero1_) {
      zero1_->assign_gradients(*buckets_, trained_, anywhere);
      look_at_gradients(numbers, zero1_->shards());
    } else {
      buckets_->assign_gradients(anywhere);
      // The same on every rank.
      look_at_gradients(numbers, replica_.gradients());
    }
    return numbers;
  }

  StepTotals totals(const at::Tensor& numbers) const override { return window_.totals(numbers); }

  void broadcast_buffers() override { replica_.broadcast_buffers(*world_.gradients); }
  std::int64_t held_bytes() const override { return Engine::held_bytes() + buckets_->bytes(); }
  ReductionMemory* memory() override { return compression_ ? this : nullptr; }
  void parameters_changed() override {
    if (zero1_) zero1_->gather_weights();
  }
  at::Tensor forward(const Batch& batch, const Pass& pass) override {
    return replica_.forward(batch, pass);
  }
  PassCapture& capture() override { return *this; }

 private:
  std::vector<NamedTensor> gather_state() const override { return compression_->gather_state(); }
  std::int64_t state_bytes() const override {
    return compression_->state_bytes(replica_.parameters());
  }
  void load(const std::vector<NamedTensor>& state) override { compression_->load(state); }
  std::string obstacle() const override {
    if (options_.find_unused_parameters)
      return "'parallel.ddp.find_unused_parameters' may use others in each step";
    if (zero1_) return "each rank moves a part of the weights, which others then wait for";
    if (compression_) return "'parallel.ddp.comm.power_sgd' compresses only after its start";
    const auto captures = [](const std::unique_ptr<Group>& group) {
      return !group || group->can_be_captured();
    };
    if (captures(world_.gradients) && captures(world_.statistics)) return {};
    return "collectives of ranks that meet in the host's memory, as Gloo's, are no work of a "
           "device";
  }

  PassResults results() override {
    buckets_->finish();
    auto results = replica_.results();
    results.used = buckets_->used();
    return results;
  }

  void restore(const PassResults& results) override {
    replica_.restore(results);
    buckets_->restore(results.used);
    window_.repeat();
  }

  void upload(bool asked) override {
    window_.upload(replica_.sums().device(), window_.used(buckets_->used()), asked);
  }

  /// A step that is not made transmits nothing: errors stay as they were.
  void settle(const at::Tensor& numbers, const std::vector<bool>& anywhere) {
    auto sound = at::isfinite(numbers.narrow(0, kLossSum, kPenalty + 1)).all();
    sound = sound.logical_and(numbers.select(0, kWeight) > 0);
    sound = sound.logical_and(numbers.select(0, kDataLost) == 0);
    std::set<std::string> unused;
    for (std::size_t i = 0; i < anywhere.size(); ++i)
      if (!anywhere[i]) unused.insert(trained_[i].name);
    compression_->settle(sound, unused);
  }

  BucketSize bucket_size() const { return {1 << 20, options_.bucket_bytes}; }

  void make_buckets() {
    buckets_.reset();  // its hooks go first
    trained_ = replica_.trained();
    // One without elements (the batch norm of no numbers) has no gradient in any engine.
    std::erase_if(trained_, [](const NamedTensor& named) { return named.tensor.numel() == 0; });
    std::vector<std::string> names;
    for (const auto& named : trained_) names.push_back(named.name);
    window_.set_trained(std::move(names));
    buckets_ = std::make_unique<Buckets>(
        trained_,
        BucketOptions{bucket_size(), zero1_ ? zero1_->flats_of(trained_) : std::vector<Flat>{},
                      options_.gradient_as_bucket_view, options_.wire_type},
        *world_.gradients, compression_ ? &*compression_ : nullptr);
  }

  EngineOptions options_;
  World& world_;
  Replica replica_;
  std::vector<NamedTensor> trained_;  // what the buckets hold
  RankWindow window_;
  std::optional<Zero1> zero1_;  // none: ddp
  std::optional<PowerSgd> compression_;
  std::unique_ptr<Buckets> buckets_;
};

}  // namespace

std::unique_ptr<Engine> make_ddp_engine(const ModelFactory& factory, const EngineOptions& options,
                                        World& world) {
  return std::make_unique<DdpEngine>(factory, options, world, false);
}

std::unique_ptr<Engine> make_zero1_engine(const ModelFactory& factory, const EngineOptions& options,
                                          World& world) {
  return std::make_unique<DdpEngine>(factory, options, world, true);
}

}  // namespace ddptrain
