// mode: ddp. One replica per rank; gradient buckets are summed over ranks during the window's last
// backward (torch.nn.parallel.DistributedDataParallel, with sums instead of means).
#include <ATen/ops/tensor.h>

#include <functional>

#include "base/error.h"
#include "distributed/buckets.h"
#include "distributed/engine.h"
#include "distributed/replica.h"

namespace ddptrain {
namespace {

/// One vector of doubles, summed over ranks at the end of a window.
struct Record {
  static constexpr std::size_t header = 6;
  double loss_sum = 0;
  double weight = 0;
  double not_finite = 0;       // ranks whose loss is not
  double ranks_with_rows = 0;  // in this window
  double left_out = 0;         // bad samples
  double data_lost = 0;        // ranks that could not load theirs
  std::vector<double> users;   // ranks on which each parameter received a gradient
};

at::Tensor to_tensor(const Record& record) {
  std::vector<double> values{record.loss_sum,        record.weight,   record.not_finite,
                             record.ranks_with_rows, record.left_out, record.data_lost};
  values.insert(values.end(), record.users.begin(), record.users.end());
  return at::tensor(values, at::kDouble);
}

Record to_record(const at::Tensor& sums) {
  const auto* at = sums.const_data_ptr<double>();
  return {at[0], at[1], at[2], at[3], at[4], at[5], {at + Record::header, at + sums.numel()}};
}

std::string layout_of(const Replica& replica) {
  std::string text;
  for (const auto& [name, tensor] : replica.parameters()) {
    text += name + " ";
    for (const auto size : tensor.sizes()) text += std::to_string(size) + " ";
  }
  return std::to_string(replica.parameters().size()) + " tensors, digest " +
         std::to_string(std::hash<std::string>{}(text));
}

class DdpEngine final : public Engine {
 public:
  DdpEngine(const ModelFactory& factory, const EngineOptions& options, World& world)
      : options_(options), world_(world), replica_(factory(), options.numerics, options.device) {
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
    left_out_ = 0;
    data_lost_ = false;
    // As torch's DDP: before the first forward of a window. Under sync_bn they are equal anyway.
    if (options_.broadcast_buffers && !options_.sync_bn) broadcast_buffers();
  }

  void accumulate(const Batch& batch, const Loss& loss, const MicroStep& at) override {
    scaled_ = at.scaled;
    saw_rows_ = saw_rows_ || batch.rows > 0;
    left_out_ += batch.left_out;
    data_lost_ = data_lost_ || at.data_lost;
    if (at.last) buckets_->release();
    // Without rows there is nothing to add; only sync_bn needs this rank in its collectives.
    if (batch.rows == 0 && !options_.sync_bn) return;
    const bool together = options_.sync_bn && !at.alone;
    replica_.train(batch, loss, at, together ? world_.statistics.get() : nullptr);
  }

  StepTotals finish() override {
    auto sums = to_tensor(own_record());
    const auto pending = world_.control->all_reduce_async(sums);
    buckets_->finish();
    pending->wait();
    const auto record = to_record(sums);
    buckets_->hand_out(used_anywhere(record));
    StepTotals totals{record.loss_sum, record.weight, record.not_finite == 0,
                      static_cast<std::int64_t>(record.left_out), record.data_lost > 0};
    // Reduced gradients are the same on every rank, and so is this.
    if (scaled_ && totals.finite) totals.finite = all_finite(replica_.gradients());
    return totals;
  }

  void broadcast_buffers() override { broadcast_tensors(*world_.gradients, replica_.buffers(), 0); }
  void parameters_changed() override {}
  void observe(const Batch& batch, const Pass& pass) override { replica_.observe(batch, pass); }
  at::Tensor evaluate(const Batch& batch) override { return replica_.evaluate(batch); }

 private:
  Record own_record() const {
    const auto totals = replica_.totals();
    Record record{totals.loss_sum,
                  totals.weight,
                  totals.finite ? 0.0 : 1.0,
                  saw_rows_ ? 1.0 : 0.0,
                  static_cast<double>(left_out_),
                  data_lost_ ? 1.0 : 0.0,
                  {}};
    for (const bool used : buckets_->used()) record.users.push_back(used && saw_rows_ ? 1 : 0);
    return record;
  }

  std::vector<bool> used_anywhere(const Record& record) {
    std::vector<bool> used;
    for (const double users : record.users) used.push_back(users > 0);
    if (record.ranks_with_rows == 0 || record.data_lost > 0) return used;
    if (options_.static_graph)
      require_the_same(used);
    else if (!options_.find_unused_parameters)
      require_all(record);
    return used;
  }

  /// Every rank sees the same sums, so all of them throw.
  void require_all(const Record& record) const {
    std::string unused;
    for (std::size_t i = 0; i < record.users.size(); ++i)
      if (record.users[i] < record.ranks_with_rows) add_name(unused, i);
    if (unused.empty()) return;
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

  void add_name(std::string& list, std::size_t parameter) const {
    list += (list.empty() ? "'" : ", '") + trained_[parameter].name + "'";
  }

  void make_buckets() {
    buckets_.reset();  // its hooks go first
    trained_ = replica_.trained();
    buckets_ = std::make_unique<Buckets>(trained_, BucketSize{1 << 20, options_.bucket_bytes},
                                         options_.gradient_as_bucket_view, *world_.gradients);
  }

  EngineOptions options_;
  World& world_;
  Replica replica_;
  std::vector<NamedTensor> trained_;  // what the buckets hold
  std::unique_ptr<Buckets> buckets_;
  bool saw_rows_ = false;  // in this window
  bool scaled_ = false;    // by a loss scale that can overflow gradients
  std::int64_t left_out_ = 0;
  bool data_lost_ = false;  // in this window
  std::vector<bool> first_used_;
};

}  // namespace

std::unique_ptr<Engine> make_ddp_engine(const ModelFactory& factory, const EngineOptions& options,
                                        World& world) {
  return std::make_unique<DdpEngine>(factory, options, world);
}

}  // namespace ddptrain
