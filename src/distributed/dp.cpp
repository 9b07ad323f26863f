// mode: dp. Replicas in one process, one thread each (torch.nn.DataParallel, without its flaws:
// replicas persist, and every layer of a batch runs at once on all of them). On the CPU they share
// the master's weights; on CUDA each device has its own copy.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cat.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>

#include "base/error.h"
#include "distributed/crew.h"
#include "distributed/engine.h"
#include "distributed/phases.h"
#include "distributed/replica.h"
#include "distributed/window_numbers.h"
#include "sources/order/shard.h"

namespace ddptrain {
namespace {

using Replicas = std::vector<std::unique_ptr<Replica>>;

at::Device device_of(const EngineOptions& options, std::size_t replica) {
  if (options.device.is_cpu() || options.device_ids.empty()) return options.device;
  return {options.device.type(), static_cast<at::DeviceIndex>(options.device_ids.at(replica))};
}

Replicas make_replicas(const ModelFactory& factory, const EngineOptions& options,
                       RowStates& carried) {
  Replicas made;
  for (std::size_t i = 0; i < static_cast<std::size_t>(options.replicas); ++i) {
    const auto device = device_of(options, i);
    made.push_back(std::make_unique<Replica>(placed(factory(), options.numerics, device), options,
                                             device, carried));
  }
  return made;
}

/// On the CPU the replicas divide the cores; GPUs have their own.
int threads_each(const EngineOptions& options) {
  const int all = at::get_num_threads();
  return options.device.is_cpu() ? std::max(1, all / options.replicas) : all;
}

std::vector<at::Tensor> tensors_of(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const auto& [name, tensor] : named) tensors.push_back(tensor.detach());
  return tensors;
}

/// Tensors of one type and device on another device, by one copy between them.
std::vector<at::Tensor> brought(const std::vector<at::Tensor>& tensors, at::Device device) {
  if (tensors.front().device() == device) return tensors;
  std::vector<at::Tensor> parts;
  for (const auto& tensor : tensors) parts.push_back(tensor.reshape({-1}));
  const auto all = at::cat(parts).to(device, /*non_blocking=*/true);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto size = tensors[i].numel();
    parts[i] = all.narrow(0, first, size).view(tensors[i].sizes());
    first += size;
  }
  return parts;
}

class DpEngine final : public Engine {
 public:
  DpEngine(const ModelFactory& factory, const EngineOptions& options)
      : options_(options),
        replicas_(make_replicas(factory, options, carried_)),
        groups_(make_thread_groups(options.replicas)),
        crew_(options.replicas, threads_each(options),
              [this](const std::string& reason) { groups_.front()->abort(reason); }) {
    if (options_.device.is_cpu()) share_weights();
    parameters_changed();
    copy_buffers();
  }

  Model& model() override { return master().model(); }

  void freeze(const Frozen& frozen) override {
    for (const auto& replica : replicas_) ddptrain::freeze(replica->model(), frozen);
  }

  void begin() override {
    for (const auto& replica : replicas_) replica->begin();
    counts_ = {};
  }

  void accumulate(const Batch& batch, const Loss& loss, const MicroStep& at) override {
    counts_.add(batch, at);
    if (!options_.sync_bn || !trained_) copy_buffers();
    trained_ = true;
    if (at.alone) return master().train(part(batch, 0), loss, at, nullptr);
    auto* watchers = BorrowedWatchers::of_this_thread();
    const auto reporters = c10::ThreadLocalDebugInfo::current();
    crew_.run([&](int number) {
      const c10::DebugInfoGuard reported(reporters);
      const BorrowedWatchers lent(number == 0 ? watchers : nullptr);
      const auto i = static_cast<std::size_t>(number);
      const auto own = part(batch, i);
      // Without rows there is nothing to add; only sync_bn needs this replica in its collectives.
      if (own.rows == 0 && !options_.sync_bn) return;
      replicas_[i]->train(own, loss, at, options_.sync_bn ? groups_[i].get() : nullptr);
    });
  }

  at::Tensor sum(bool asked) override {
    const PhaseScope phase(Phase::communication);
    auto sums = master().sums();
    for (std::size_t r = 1; r < replicas_.size(); ++r)
      sums = sums.add(replicas_[r]->sums().to(sums.device(), /*non_blocking=*/true));
    add_up_gradients();
    auto numbers = at::cat({sums, host_.on(sums.device(), counted(counts_, asked))});
    look_at_gradients(numbers, master().gradients());
    return numbers;
  }

  void broadcast_buffers() override {}

  void parameters_changed() override {
    if (options_.device.is_cpu()) return;
    const at::NoGradGuard no_grad;
    const auto from = tensors_of(master().parameters());
    for (std::size_t r = 1; r < replicas_.size(); ++r) {
      const auto to = tensors_of(replicas_[r]->parameters());
      at::_foreach_copy_(to, brought(from, to.front().device()));
    }
  }

  at::Tensor forward(const Batch& batch, const Pass& pass) override {
    return master().forward(batch, pass);
  }
  PassCapture& capture() override { return no_capture_; }

 private:
  Replica& master() { return *replicas_.front(); }

  /// The rows of a replica.
  Batch part(const Batch& batch, std::size_t replica) const {
    if (!batch.parts.empty()) return batch.parts.at(replica);
    const auto first = cut(batch.rows, options_.replicas);
    return slice(batch, first[replica], first[replica + 1] - first[replica]);
  }

  void share_weights() {
    for (std::size_t r = 1; r < replicas_.size(); ++r)
      for (std::size_t i = 0; i < master().parameters().size(); ++i)
        replicas_[r]->parameters()[i].tensor.set_data(master().parameters()[i].tensor.detach());
  }

  /// Batch statistics of replica 0 survive, as in torch's DataParallel.
  void copy_buffers() {
    const auto from = master().flat_buffers();
    for (std::size_t r = 1; r < replicas_.size(); ++r) {
      auto to = replicas_[r]->flat_buffers();
      if (from.defined() && to.defined())
        to.copy_(from, /*non_blocking=*/true);
      else
        for (std::size_t i = 0; i < master().buffers().size(); ++i)
          replicas_[r]->buffers()[i].copy_(master().buffers()[i], /*non_blocking=*/true);
    }
  }

  /// To the master, in replica order.
  void add_up_gradients() {
    for (std::size_t r = 1; r < replicas_.size(); ++r) {
      std::vector<at::Tensor> sums, parts;
      for (std::size_t i = 0; i < master().parameters().size(); ++i) {
        const auto& parameter = master().parameters()[i].tensor;
        const auto& part = replicas_[r]->parameters()[i].tensor.grad();
        if (!part.defined()) continue;
        if (!parameter.grad().defined()) {
          parameter.mutable_grad() = part.to(parameter.device());
          continue;
        }
        sums.push_back(parameter.grad());
        parts.push_back(part);
      }
      if (!sums.empty()) at::_foreach_add_(sums, brought(parts, sums.front().device()));
    }
  }

  EngineOptions options_;
  Replicas replicas_;
  std::vector<std::unique_ptr<Group>> groups_;  // for sync_bn
  Crew crew_;
  HostCounts counts_;     // in this window
  bool trained_ = false;  // until then the master may get the buffers of a file
  HostNumbers host_;
  NoPassCapture no_capture_{"'parallel.mode: dp' computes in a thread for each device"};
};

}  // namespace

std::unique_ptr<Engine> make_dp_engine(const ModelFactory& factory, const EngineOptions& options) {
  return std::make_unique<DpEngine>(factory, options);
}

}  // namespace ddptrain
