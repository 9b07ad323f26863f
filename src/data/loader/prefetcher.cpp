#include "data/loader/prefetcher.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>
#include <deque>
#include <exception>

#include "sources/order/shard.h"

namespace ddptrain {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr std::size_t kAhead = 2;
constexpr std::size_t kMostSources = 16;  // many more copies than are ever under way

/// A device, and the stream that copies batches to it.
struct CopyStream {
  explicit CopyStream(at::Device where)
      : device(where),
        guard(where.type()),
        stream(guard.getStreamFromGlobalPool(where, /*isHighPriority=*/false)) {}
  at::Device device;
  c10::impl::VirtualGuardImpl guard;
  c10::Stream stream;
};

/// A batch that is being copied to the devices, or why there is none.
struct Prefetched {
  Batch batch;
  std::exception_ptr error;
  std::shared_ptr<std::vector<c10::Event>> copied;  // one for each device in use
};

/// The host memory that copies read.
struct CopySource {
  Batch batch;
  std::shared_ptr<std::vector<c10::Event>> copied;
};

Tensors on(at::Device device, const Tensors& tensors) {
  Tensors there;
  for (const auto& tensor : tensors) there.push_back(tensor.to(device, /*non_blocking=*/true));
  return there;
}

void record(const Tensors& tensors, c10::Stream stream) {
  for (const auto& tensor : tensors) tensor.record_stream(stream);
}

class Prefetcher final : public Loader {
 public:
  Prefetcher(std::unique_ptr<Loader> host, const std::vector<at::Device>& devices)
      : host_(std::move(host)), streams_(devices.begin(), devices.end()) {}

  void start(EpochPlan plan) override {
    prefetched_.clear();
    left_ = plan.micros.size();
    whole_ = plan.whole || streams_.size() == 1;
    host_->start(std::move(plan));
  }

  Batch next() override {
    release_sources();
    if (prefetched_.empty()) prefetch();
    auto first = std::move(prefetched_.front());
    prefetched_.pop_front();
    while (prefetched_.size() < kAhead && left_ > 0 && host_->ready()) prefetch();
    if (first.error) std::rethrow_exception(first.error);
    wait_for_copies(first);
    return std::move(first.batch);
  }

  bool ready() override { return !prefetched_.empty() || host_->ready(); }

 private:
  void prefetch() {
    if (left_ > 0) --left_;
    Prefetched prefetched;
    try {
      auto batch = host_->next();
      prefetched.copied = std::make_shared<std::vector<c10::Event>>();
      prefetched.batch = copied(batch, *prefetched.copied);
      sources_.push_back({std::move(batch), prefetched.copied});
    } catch (...) {
      prefetched.error = std::current_exception();
    }
    prefetched_.push_back(std::move(prefetched));
  }

  Batch copied(const Batch& batch, std::vector<c10::Event>& events) const {
    if (whole_) return copied_to(streams_.front(), batch, events);
    Batch there = batch;
    there.inputs.clear();
    there.targets.clear();
    const auto first = cut(batch.rows, static_cast<std::int64_t>(streams_.size()));
    for (std::size_t i = 0; i < streams_.size(); ++i)
      there.parts.push_back(
          copied_to(streams_[i], slice(batch, first[i], first[i + 1] - first[i]), events));
    return there;
  }

  // Memory of the copy stream: the engine's may still read what was there before.
  static Batch copied_to(const CopyStream& copy, const Batch& batch,
                         std::vector<c10::Event>& events) {
    const c10::StreamGuard guard(copy.stream);
    Batch there = batch;
    there.inputs = on(copy.device, batch.inputs);
    there.targets = on(copy.device, batch.targets);
    events.emplace_back(copy.device.type());
    events.back().record(copy.stream);
    return there;
  }

  void wait_for_copies(const Prefetched& prefetched) const {
    for (std::size_t i = 0; i < prefetched.copied->size(); ++i) {
      const auto stream = streams_[i].guard.getStream(streams_[i].device);
      (*prefetched.copied)[i].block(stream);
      const auto& batch =
          prefetched.batch.parts.empty() ? prefetched.batch : prefetched.batch.parts[i];
      record(batch.inputs, stream);
      record(batch.targets, stream);
    }
  }

  void release_sources() {
    std::erase_if(sources_, [](const CopySource& source) {
      return std::ranges::all_of(*source.copied,
                                 [](const c10::Event& event) { return event.query(); });
    });
    for (; sources_.size() > kMostSources; sources_.pop_front())
      for (const auto& event : *sources_.front().copied) event.synchronize();
  }

  std::unique_ptr<Loader> host_;
  std::vector<CopyStream> streams_;
  std::deque<CopySource> sources_;
  std::deque<Prefetched> prefetched_;  // in the order of the epoch
  std::size_t left_ = 0;               // of the epoch's batches that `host_` has
  bool whole_ = true;
};

}  // namespace

std::unique_ptr<Loader> make_prefetcher(std::unique_ptr<Loader> host,
                                        const std::vector<at::Device>& devices) {
  return std::make_unique<Prefetcher>(std::move(host), devices);
}

}  // namespace ddptrain
