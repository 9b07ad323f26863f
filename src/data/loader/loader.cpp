#include "data/loader/loader.h"

#include <ATen/ops/empty_strided.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "base/blocked_signals.h"
#include "base/error.h"
#include "base/files/mapping_guard.h"
#include "data/loader/batch_pool.h"
#include "data/mix/mixing.h"

namespace ddptrain {
namespace {

/// A micro-batch under way. Its rows are loaded in any order by any thread.
struct Slot {
  const Micro* micro = nullptr;
  Batch batch;
  MixedRows rows;         // and their partners, where rows are mixed
  std::vector<char> bad;  // rows to leave out
  std::size_t next_row = 0;
  std::size_t loaded = 0;
  std::exception_ptr error;  // of the first row that failed
  std::size_t error_row = 0;
  bool complete = false;  // loaded and mixed
};

/// Rows first .. last - 1 of a slot.
struct Job {
  Slot* slot;
  std::size_t first;
  std::size_t last;
};

/// A batch like another.
Batch in_pinned_memory(Batch batch) {
  for (auto* tensors : {&batch.inputs, &batch.targets})
    for (auto& tensor : *tensors)
      tensor =
          at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().pinned_memory(true));
  return batch;
}

void pin(std::vector<at::Tensor>& tensors) {
  for (auto& tensor : tensors)
    if (tensor.numel() > 0) tensor = tensor.pin_memory();
}

/// All state is guarded by one mutex; only the rows of a job are written outside of it. A slot is
/// opened again when its batch was delivered, so that at most `prefetch` are under way.
class ThreadedLoader final : public Loader {
 public:
  ThreadedLoader(const Dataset& dataset, const LoaderOptions& options)
      : dataset_(dataset),
        options_(options),
        slots_(static_cast<std::size_t>(std::max(1, options.workers > 0 ? options.prefetch : 1))),
        pool_(fresh_pool()),
        augmented_(fresh_pool(true)) {
    if (options.mix) options.mix->check(dataset.allocate(options.split, 0));
    for (int i = 0; i < options.workers; ++i) start_worker();
  }

  ~ThreadedLoader() override {
    {
      const std::lock_guard lock(mutex_);
      leaving_ = true;
    }
    work_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  void start(EpochPlan plan) override {
    std::unique_lock lock(mutex_);
    opened_ = plan_.micros.size();  // no more jobs of the epoch before
    open_ = nullptr;
    idle_.wait(lock, [this] { return busy_ == 0; });
    plan_ = std::move(plan);
    pool_ = fresh_pool();  // an epoch may have a shape of its own
    opened_ = delivered_ = 0;
    announce();
    work_.notify_all();
  }

  Batch next() override {
    std::unique_lock lock(mutex_);
    DDP_CHECK(delivered_ < plan_.micros.size(), "an epoch has no more batches");
    if (workers_.empty())
      while (work_is_waiting()) run(lock, take_job());
    auto& slot = slot_of(delivered_);
    ready_.wait(lock, [&] { return opened_ > delivered_ && slot.complete; });
    ++delivered_;
    work_.notify_all();
    return finish(slot);
  }

  bool ready() override {
    const std::lock_guard lock(mutex_);
    return opened_ > delivered_ && slot_of(delivered_).complete;
  }

 private:
  /// Rows of the split, or as training samples are in the end.
  BatchPool fresh_pool(bool augmented = false) const {
    const std::size_t copied = options_.pinned ? 4 : 0;  // whose copies are under way
    return {slots_.size() + 2 + copied, [this, augmented](std::int64_t rows, std::int64_t length) {
              auto batch = allocate(augmented, rows, length);
              return options_.pinned ? in_pinned_memory(std::move(batch)) : batch;
            }};
  }

  Batch allocate(bool augmented, std::int64_t rows, std::int64_t length) const {
    if (length > 0) return dataset_.allocate_length(options_.split, rows, length);
    if (augmented) return dataset_.allocate_train(std::numeric_limits<std::int64_t>::max(), rows);
    return options_.split == Split::train ? dataset_.allocate_train(plan_.epoch, rows)
                                          : dataset_.allocate(options_.split, rows);
  }

  void start_worker() {
    const BlockedSignals blocked;
    workers_.emplace_back([this] { work(); });
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return leaving_ || work_is_waiting(); });
      if (leaving_) return;
      run(lock, take_job());
    }
  }

  Slot& slot_of(std::size_t micro) { return slots_[micro % slots_.size()]; }

  bool work_is_waiting() const {
    return open_ || (opened_ < plan_.micros.size() && opened_ < delivered_ + slots_.size());
  }

  /// The next rows to load; none of an empty micro-batch.
  Job take_job() {
    if (!open_) open_next();
    auto& slot = *open_;
    const auto rows = slot.bad.size();
    const auto share = rows / (4 * std::max<std::size_t>(1, workers_.size()));
    const auto first = slot.next_row;
    slot.next_row = std::min(rows, first + std::clamp<std::size_t>(share, 1, 16));
    if (slot.next_row == rows) open_ = nullptr;
    return {&slot, first, slot.next_row};
  }

  // A position that is not in the order is next()'s to report.
  void announce() const {
    std::vector<std::int64_t> reads;
    for (const auto& micro : plan_.micros)
      for (const auto position : micro.positions)
        if (position < std::ssize(plan_.order))
          reads.push_back(plan_.order[static_cast<std::size_t>(position)]);
    dataset_.announce(options_.split, reads);
  }

  // What goes wrong here (no memory) is next()'s to say, as it is for rows.
  void open_next() {
    auto& slot = slot_of(opened_);
    slot = {};
    slot.micro = &plan_.micros[opened_++];
    slot.rows = rows_of(*slot.micro);
    slot.bad.assign(slot.rows.positions.size(), 0);
    open_ = &slot;
    try {
      prepare(slot);
    } catch (...) {
      slot.error = std::current_exception();
      slot.loaded = slot.next_row = slot.bad.size();
    }
  }

  void prepare(Slot& slot) {
    const auto& positions = slot.rows.positions;
    auto& pool = slot.micro->pass > 0 ? augmented_ : pool_;
    slot.batch = pool.acquire(static_cast<std::int64_t>(positions.size()), slot.micro->length);
    slot.batch.first_row = slot.micro->first_row;
    slot.batch.indices.clear();
    for (const auto position : positions)
      slot.batch.indices.push_back(plan_.order.at(static_cast<std::size_t>(position)));
  }

  MixedRows rows_of(const Micro& micro) const {
    if (!options_.mix) return {micro.positions, {}};
    return with_partners(micro.positions, plan_.batch,
                         static_cast<std::int64_t>(plan_.order.size()));
  }

  void run(std::unique_lock<std::mutex>& lock, const Job& job) {
    ++busy_;
    lock.unlock();
    std::exception_ptr error;
    auto row = job.first;
    try {
      for (; row < job.last; ++row) load(*job.slot, row);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    auto& slot = *job.slot;
    slot.loaded += job.last - job.first;
    if (error && (!slot.error || row < slot.error_row)) {
      slot.error = error;
      slot.error_row = row;
    }
    if (slot.loaded == slot.bad.size()) complete(lock, slot);
    --busy_;
    if (busy_ == 0) idle_.notify_all();
  }

  /// Who loads the last row also mixes.
  void complete(std::unique_lock<std::mutex>& lock, Slot& slot) {
    if (options_.mix && !slot.error) {
      lock.unlock();
      try {
        mix_rows(*options_.mix, {options_.seed, plan_.epoch, plan_.batch}, slot.rows, slot.bad,
                 slot.batch);
        if (options_.pinned) pin(slot.batch.targets);  // inputs are already
      } catch (...) {
        slot.error = std::current_exception();
      }
      lock.lock();
    }
    slot.complete = true;
    ready_.notify_all();
  }

  void load(Slot& slot, std::size_t row) {
    const auto pass = slot.micro->pass;
    Draw draw{options_.seed, plan_.epoch, slot.rows.positions[row]};
    if (pass > 0) draw = {mix(options_.seed, hash_text("tta")), pass, draw.position, true};
    const auto index = slot.batch.indices[row];
    slot.bad[row] =
        !dataset_.load(options_.split, index, draw, slot.batch, static_cast<std::int64_t>(row));
  }

  Batch finish(Slot& slot) {
    check_mapped_files();  // the cause of any other error, and of a batch with zeros
    if (slot.error) std::rethrow_exception(slot.error);
    leave_out(slot.batch, slot.bad);
    return std::move(slot.batch);
  }

  const Dataset& dataset_;
  const LoaderOptions options_;

  std::mutex mutex_;
  std::condition_variable work_;   // there may be a job
  std::condition_variable ready_;  // a slot is complete
  std::condition_variable idle_;   // no worker runs a job
  EpochPlan plan_;
  std::vector<Slot> slots_;
  BatchPool pool_;
  BatchPool augmented_;        // of further passes
  Slot* open_ = nullptr;       // has rows that no worker has taken
  std::size_t opened_ = 0;     // micro-batches begun
  std::size_t delivered_ = 0;  // and handed out
  int busy_ = 0;               // jobs under way
  bool leaving_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace

std::unique_ptr<Loader> make_loader(const Dataset& dataset, const LoaderOptions& options) {
  return std::make_unique<ThreadedLoader>(dataset, options);
}

}  // namespace ddptrain
