// Members in threads of one process: a collective is a meeting in which everybody puts a copy on
// the table and takes all of them home.
#include <condition_variable>
#include <mutex>

#include "base/error.h"
#include "distributed/group.h"

namespace ddptrain {
namespace {

class Meeting {
 public:
  Meeting(int size, std::chrono::milliseconds timeout)
      : table_(static_cast<std::size_t>(size)), timeout_(timeout) {}

  /// Everybody's tensor in rank order; the handles are shared, so they are to be read only.
  std::vector<at::Tensor> exchange(int rank, const at::Tensor& tensor) {
    auto copy = tensor.defined() ? tensor.detach().clone() : tensor;
    const auto seat = static_cast<std::size_t>(rank);
    std::unique_lock lock(mutex_);
    table_[seat] = std::move(copy);
    arrive(lock);
    auto all = table_;
    arrive(lock);
    table_[seat].reset();
    return all;
  }

  void leave(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (broken_.empty()) broken_ = reason;
    changed_.notify_all();
  }

 private:
  void arrive(std::unique_lock<std::mutex>& lock) {
    check();
    const auto round = round_;
    if (++arrived_ == table_.size()) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return;
    }
    const auto met = [&] { return round_ != round || !broken_.empty(); };
    if (!changed_.wait_for(lock, timeout_, met))
      broken_ = std::to_string(table_.size() - arrived_) + " of " + std::to_string(table_.size()) +
                " threads did not come within " + std::to_string(timeout_.count()) + " ms";
    if (round_ == round) check();
  }

  void check() {
    if (broken_.empty()) return;
    changed_.notify_all();
    throw Error(Exit::device, broken_);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<at::Tensor> table_;
  std::chrono::milliseconds timeout_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
  std::string broken_;  // why nobody can meet any more
};

class Done final : public Pending {
 public:
  void wait() override {}
};

class ThreadGroup final : public Group {
 public:
  ThreadGroup(std::shared_ptr<Meeting> meeting, int rank, int size)
      : meeting_(std::move(meeting)), rank_(rank), size_(size) {}
  ~ThreadGroup() override {
    meeting_->leave("thread " + std::to_string(rank_) + " of the group has ended");
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return meeting_->exchange(rank_, tensor);
  }

  void all_reduce(at::Tensor& tensor) override {
    const auto all = meeting_->exchange(rank_, tensor);
    auto sum = all[0].clone();
    for (std::size_t i = 1; i < all.size(); ++i) sum.add_(all[i].to(sum.device()));
    tensor.detach().copy_(sum);
  }

  std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) override {
    all_reduce(tensor);
    return std::make_unique<Done>();
  }

  void broadcast(at::Tensor& tensor, int root) override {
    const auto all = meeting_->exchange(rank_, tensor);
    if (rank_ != root) tensor.detach().copy_(all[static_cast<std::size_t>(root)]);
  }

  void barrier() override { meeting_->exchange(rank_, at::Tensor()); }

  void abort(const std::string& reason) override { meeting_->leave(reason); }

 private:
  std::shared_ptr<Meeting> meeting_;
  int rank_;
  int size_;
};

}  // namespace

std::vector<std::unique_ptr<Group>> make_thread_groups(int size,
                                                       std::chrono::milliseconds timeout) {
  const auto meeting = std::make_shared<Meeting>(size, timeout);
  std::vector<std::unique_ptr<Group>> groups;
  for (int rank = 0; rank < size; ++rank)
    groups.push_back(std::make_unique<ThreadGroup>(meeting, rank, size));
  return groups;
}

}  // namespace ddptrain
