// mode: ddp. One replica per rank; gradient buckets are summed over ranks during the window's last
// backward (torch.nn.parallel.DistributedDataParallel, with sums instead of means).
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "distributed/buckets.h"
#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/replica.h"
#include "distributed/window_numbers.h"

namespace ddptrain {
namespace {

/// Behind the numbers of every engine: in this window.
enum : std::int64_t {
  kRanksWithRows = kWindowNumbers,
  kRanksWithGradient,  // ranks on which each parameter received a gradient, one number each
};

std::string layout_of(const Replica& replica) {
  std::string text;
  for (const auto& [name, tensor] : replica.parameters()) {
    text += name + " ";
    for (const auto size : tensor.sizes()) text += fmt::format("{} ", size);
  }
  return fmt::format("{} tensors, digest {}", replica.parameters().size(),
                     std::hash<std::string>{}(text));
}

class DdpEngine final : public Engine, private PassCapture {
 public:
  DdpEngine(const ModelFactory& factory, const EngineOptions& options, World& world)
      : options_(options), world_(world), replica_(factory(), options, options.device, carried_) {
    if (options.power_sgd && world.size > 1)
      compression_.emplace(*options.power_sgd, *world.gradients, options.wire_type);
    make_buckets();
    agree(world, "the model's parameters", layout_of(replica_));
    auto state = replica_.buffers();
    for (const auto& named : replica_.parameters()) state.push_back(named.tensor.detach());
    broadcast_tensors(*world.gradients, state, 0);
  }

  Model& model() override { return replica_.model(); }

  void freeze(const Frozen& frozen) override {
    ddptrain::freeze(replica_.model(), frozen);
    first_used_.clear();
    make_buckets();
  }

  void begin() override {
    replica_.begin();
    buckets_->begin();
    saw_rows_ = false;
    counts_ = {};
    // As torch's DDP: before the first forward of a window. Under sync_bn they are equal anyway.
    if (options_.broadcast_buffers && !options_.sync_bn) broadcast_buffers();
  }

  void accumulate(const Batch& batch, const Loss& loss, const MicroStep& at) override {
    counts_.add(batch, at);
    saw_rows_ = saw_rows_ || batch.rows > 0;
    if (at.last) buckets_->release(at.alone ? -1 : at.step);
    // Without rows there is nothing to add; only sync_bn needs this rank in its collectives.
    if (batch.rows == 0 && !options_.sync_bn) return;
    const bool together = options_.sync_bn && !at.alone;
    replica_.train(batch, loss, at, together ? world_.statistics.get() : nullptr);
  }

  at::Tensor sum(bool asked) override {
    const PhaseScope phase(Phase::communication);
    const auto used = used_here();
    const auto& own = replica_.sums();
    auto numbers = at::cat({own, host_.on(own.device(), host_numbers(used, asked))});
    if (own.is_cpu()) {  // while gradients are still under way
      const auto pending = world_.control->all_reduce_async(numbers);
      buckets_->finish();
      pending->wait();
    } else {  // behind them, since ranks differ in how many they have sent by now
      buckets_->finish();
      world_.gradients->all_reduce(numbers);
    }
    const auto anywhere = used_anywhere(used, numbers);
    if (compression_) settle(numbers, anywhere);
    buckets_->assign_gradients(anywhere);
    look_at_scaled(numbers, counts_, replica_.gradients());  // the same on every rank
    return numbers;
  }

  StepTotals totals(const at::Tensor& numbers) const override {
    const auto totals = totals_of(numbers);
    if (!totals.data_lost) require_all(numbers);
    return totals;
  }

  void broadcast_buffers() override {
    if (world_.size == 1 || replica_.buffers().empty()) return;
    const PhaseScope phase(Phase::communication);
    if (auto flat = replica_.flat_buffers(); flat.defined())
      world_.gradients->broadcast(flat, 0);
    else
      broadcast_tensors(*world_.gradients, replica_.buffers(), 0);
  }
  std::vector<NamedTensor> gather_state() const override {
    return compression_ ? compression_->gather_state() : std::vector<NamedTensor>{};
  }
  std::int64_t state_bytes() const override {
    return compression_ ? compression_->state_bytes(replica_.parameters()) : 0;
  }
  void load(const std::vector<NamedTensor>& state) override {
    if (!compression_) return Engine::load(state);
    compression_->load(state);
  }
  void parameters_changed() override {}
  at::Tensor forward(const Batch& batch, const Pass& pass) override {
    return replica_.forward(batch, pass);
  }
  PassCapture& capture() override { return *this; }

 private:
  std::string obstacle() const override {
    if (options_.find_unused_parameters)
      return "'parallel.ddp.find_unused_parameters' may use others in each step";
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
    saw_rows_ = true;
    counts_ = {};
  }

  void upload(bool asked) override {
    host_.on(replica_.sums().device(), host_numbers(used_here(), asked));
  }

  /// Which parameters received a gradient from rows of this rank.
  std::vector<bool> used_here() const {
    auto used = buckets_->used();
    if (!saw_rows_) used.assign(used.size(), false);
    return used;
  }

  std::vector<double> host_numbers(const std::vector<bool>& used, bool asked) const {
    auto numbers = counted(counts_, asked);
    const bool strict = !options_.static_graph && !options_.find_unused_parameters;
    if (strict && saw_rows_ && !all(used)) numbers[kMissing - kLeftOut] = 1;
    numbers.push_back(saw_rows_ ? 1 : 0);
    numbers.insert(numbers.end(), used.begin(), used.end());
    return numbers;
  }

  static bool all(const std::vector<bool>& used) { return std::ranges::count(used, false) == 0; }

  /// What was used here was used anywhere; a rank that lacks some waits to see what the others did.
  std::vector<bool> used_anywhere(const std::vector<bool>& here, const at::Tensor& numbers) {
    auto used = here;
    if (!all(here)) {
      const auto sums = numbers.cpu();
      const double* at = sums.const_data_ptr<double>();
      for (std::size_t i = 0; i < used.size(); ++i) used[i] = at[kRanksWithGradient + i] > 0;
      if (at[kRanksWithRows] == 0 || at[kDataLost] > 0) return used;
    }
    if (options_.static_graph) require_the_same(used);
    return used;
  }

  /// Every rank sees the same sums, so all of them throw.
  void require_all(const at::Tensor& numbers) const {
    const double* at = numbers.const_data_ptr<double>();
    if (at[kMissing] == 0) return;
    std::string unused;
    for (std::size_t i = 0; i < trained_.size(); ++i)
      if (at[kRanksWithGradient + i] < at[kRanksWithRows]) add_name(unused, i);
    throw Error(Exit::recipe, "parameters received no gradient on some rank: " + unused +
                                  "; 'parallel.ddp.find_unused_parameters: true' allows it");
  }

  void require_the_same(const std::vector<bool>& used) {
    if (first_used_.empty()) first_used_ = used;
    std::string changed;
    for (std::size_t i = 0; i < used.size(); ++i)
      if (used[i] != first_used_[i]) add_name(changed, i);
    if (changed.empty()) return;
    throw Error(Exit::recipe, "parameters are not used as in the first step: " + changed +
                                  "; 'parallel.ddp.static_graph: false' allows it");
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

  void add_name(std::string& list, std::size_t parameter) const {
    list += (list.empty() ? "'" : ", '") + trained_[parameter].name + "'";
  }

  void make_buckets() {
    buckets_.reset();  // its hooks go first
    trained_ = replica_.trained();
    // One without elements (the batch norm of no numbers) has no gradient in any engine.
    std::erase_if(trained_, [](const NamedTensor& named) { return named.tensor.numel() == 0; });
    buckets_ = std::make_unique<Buckets>(
        trained_,
        BucketOptions{
            {1 << 20, options_.bucket_bytes}, options_.gradient_as_bucket_view, options_.wire_type},
        *world_.gradients, compression_ ? &*compression_ : nullptr);
  }

  EngineOptions options_;
  World& world_;
  Replica replica_;
  std::vector<NamedTensor> trained_;  // what the buckets hold
  std::optional<PowerSgd> compression_;
  std::unique_ptr<Buckets> buckets_;
  bool saw_rows_ = false;  // in this window
  HostCounts counts_;      // too
  HostNumbers host_;
  std::vector<bool> first_used_;
};

}  // namespace

std::unique_ptr<Engine> make_ddp_engine(const ModelFactory& factory, const EngineOptions& options,
                                        World& world) {
  return std::make_unique<DdpEngine>(factory, options, world);
}

}  // namespace ddptrain
