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
constexpr std::size_t kMostHeld = 16;  // many more than are ever on the way

/// A device, and the stream that brings it batches.
struct Lane {
  explicit Lane(at::Device where)
      : device(where),
        guard(where.type()),
        stream(guard.getStreamFromGlobalPool(where, /*isHighPriority=*/false)) {}
  at::Device device;
  c10::impl::VirtualGuardImpl guard;
  c10::Stream stream;
};

/// On the way to the devices, or why there is none.
struct Coming {
  Batch batch;
  std::exception_ptr error;
  std::shared_ptr<std::vector<c10::Event>> copied;  // one for each lane that is used
};

/// The memory that copies read.
struct Held {
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
      : host_(std::move(host)), lanes_(devices.begin(), devices.end()) {}

  void start(EpochPlan plan) override {
    coming_.clear();
    left_ = plan.micros.size();
    whole_ = plan.whole || lanes_.size() == 1;
    host_->start(std::move(plan));
  }

  Batch next() override {
    let_go();
    if (coming_.empty()) bring();
    auto taken = std::move(coming_.front());
    coming_.pop_front();
    while (coming_.size() < kAhead && left_ > 0 && host_->ready()) bring();
    if (taken.error) std::rethrow_exception(taken.error);
    hand_over(taken);
    return std::move(taken.batch);
  }

  bool ready() override { return !coming_.empty() || host_->ready(); }

 private:
  void bring() {
    if (left_ > 0) --left_;
    Coming coming;
    try {
      auto batch = host_->next();
      coming.copied = std::make_shared<std::vector<c10::Event>>();
      coming.batch = copied(batch, *coming.copied);
      held_.push_back({std::move(batch), coming.copied});
    } catch (...) {
      coming.error = std::current_exception();
    }
    coming_.push_back(std::move(coming));
  }

  Batch copied(const Batch& batch, std::vector<c10::Event>& events) const {
    if (whole_) return copied_to(lanes_.front(), batch, events);
    Batch there = batch;
    there.inputs.clear();
    there.targets.clear();
    const auto first = cut(batch.rows, static_cast<std::int64_t>(lanes_.size()));
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      there.parts.push_back(
          copied_to(lanes_[i], slice(batch, first[i], first[i + 1] - first[i]), events));
    return there;
  }

  // Memory of the lane's stream: the engine's may still read what was there before.
  static Batch copied_to(const Lane& lane, const Batch& batch, std::vector<c10::Event>& events) {
    const c10::StreamGuard guard(lane.stream);
    Batch there = batch;
    there.inputs = on(lane.device, batch.inputs);
    there.targets = on(lane.device, batch.targets);
    events.emplace_back(lane.device.type());
    events.back().record(lane.stream);
    return there;
  }

  void hand_over(const Coming& taken) const {
    for (std::size_t i = 0; i < taken.copied->size(); ++i) {
      const auto stream = lanes_[i].guard.getStream(lanes_[i].device);
      (*taken.copied)[i].block(stream);
      const auto& batch = taken.batch.parts.empty() ? taken.batch : taken.batch.parts[i];
      record(batch.inputs, stream);
      record(batch.targets, stream);
    }
  }

  void let_go() {
    std::erase_if(held_, [](const Held& held) {
      return std::ranges::all_of(*held.copied,
                                 [](const c10::Event& event) { return event.query(); });
    });
    for (; held_.size() > kMostHeld; held_.pop_front())
      for (const auto& event : *held_.front().copied) event.synchronize();
  }

  std::unique_ptr<Loader> host_;
  std::vector<Lane> lanes_;
  std::deque<Held> held_;
  std::deque<Coming> coming_;  // in the order of the epoch
  std::size_t left_ = 0;       // of the epoch's batches that `host_` has
  bool whole_ = true;
};

}  // namespace

std::unique_ptr<Loader> make_prefetcher(std::unique_ptr<Loader> host,
                                        const std::vector<at::Device>& devices) {
  return std::make_unique<Prefetcher>(std::move(host), devices);
}

}  // namespace ddptrain
