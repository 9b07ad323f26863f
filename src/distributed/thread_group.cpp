// Members in threads of one process: a collective is a round in which each member publishes a copy
// and reads those of all.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "distributed/group.h"

namespace ddptrain {
namespace {

using Tensors = std::vector<at::Tensor>;

class Table {
 public:
  Table(int size, std::chrono::milliseconds timeout)
      : size_(static_cast<std::size_t>(size)), timeout_(timeout) {}

  void put(std::uint64_t number, int rank, const at::Tensor& tensor) {
    auto copy = tensor.defined() ? tensor.detach().clone() : tensor;
    const std::lock_guard lock(mutex_);
    if (!broken_.empty()) throw Error(Exit::device, broken_);
    auto& round = rounds_[number];
    round.tensors.resize(size_);
    round.tensors[static_cast<std::size_t>(rank)] = std::move(copy);
    if (++round.put == size_) changed_.notify_all();
  }

  /// The tensors of all members in rank order. The handles are shared, so they are to be read only.
  Tensors collect(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    auto& round = rounds_[number];
    const auto complete = [&] { return round.put == size_; };
    if (!wait(lock, [&] { return complete() || !broken_.empty(); }))
      break_up(fmt::format("{} of {} threads did not come within {} ms", size_ - round.put, size_,
                           timeout_.count()));
    if (!complete()) throw Error(Exit::device, broken_);
    auto all = round.tensors;
    if (++round.taken == size_) rounds_.erase(number);
    return all;
  }

  void send(int from, int to, const at::Tensor& tensor) {
    const std::lock_guard lock(mutex_);
    letters_[{from, to}].push_back(tensor.detach().clone());
    changed_.notify_all();
  }

  at::Tensor receive(int from, int to) {
    std::unique_lock lock(mutex_);
    auto& letters = letters_[{from, to}];
    if (!wait(lock, [&] { return !letters.empty() || gone_.contains(from); }))
      break_up(fmt::format("thread {} sent nothing within {} ms", from, timeout_.count()));
    if (letters.empty()) throw Error(Exit::device, broken_);
    auto tensor = std::move(letters.front());
    letters.pop_front();
    return tensor;
  }

  void leave(int rank, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    gone_.insert(rank);
    break_up(reason);
  }

 private:
  struct Round {
    Tensors tensors;
    std::size_t put = 0;
    std::size_t taken = 0;
  };

  // Waits for at most the time-out, in slices: while the process is suspended, one goes by at most.
  template <class Condition>
  bool wait(std::unique_lock<std::mutex>& lock, const Condition& condition) {
    using Milliseconds = std::chrono::milliseconds;
    const auto slice = std::min(timeout_, Milliseconds(500));
    for (auto left = timeout_; left.count() > 0; left -= slice)
      if (changed_.wait_for(lock, std::min(slice, left), condition)) return true;
    return condition();
  }

  void break_up(const std::string& reason) {
    if (broken_.empty()) broken_ = reason;
    changed_.notify_all();
  }

  std::size_t size_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Round> rounds_;
  std::map<std::pair<int, int>, std::deque<at::Tensor>> letters_;  // from one, to another
  std::set<int> gone_;
  std::string broken_;  // why no member will join any more
};

/// In rank order, so that every member has the same sum.
void sum_into(const at::Tensor& target, const Tensors& all) {
  auto sum = all[0].to(target.device(), target.scalar_type(), false, /*copy=*/true);
  for (std::size_t i = 1; i < all.size(); ++i) sum.add_(all[i].to(sum.device()));
  target.detach().copy_(sum);
}

class Reducing final : public Pending {
 public:
  Reducing(std::shared_ptr<Table> table, std::uint64_t number, at::Tensor target)
      : table_(std::move(table)), number_(number), target_(std::move(target)) {}
  void wait() override {
    if (target_.defined()) sum_into(target_, table_->collect(number_));
    target_.reset();
  }

 private:
  std::shared_ptr<Table> table_;
  std::uint64_t number_;
  at::Tensor target_;
};

/// Copies parts of what the members have published.
class Copying final : public Pending {
 public:
  using Copy = std::function<void(const Tensors& all)>;
  Copying(std::shared_ptr<Table> table, std::uint64_t number, Copy copy)
      : table_(std::move(table)), number_(number), copy_(std::move(copy)) {}
  void wait() override {
    if (copy_) copy_(table_->collect(number_));
    copy_ = {};
  }

 private:
  std::shared_ptr<Table> table_;
  std::uint64_t number_;
  Copy copy_;
};

class ThreadGroup final : public Group {
 public:
  ThreadGroup(std::shared_ptr<Table> table, int rank, int size)
      : table_(std::move(table)), rank_(rank), size_(size) {}
  ~ThreadGroup() override {
    table_->leave(rank_, fmt::format("thread {} of the group has ended", rank_));
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  /// Each on the device of the member's own.
  Tensors all_gather(const at::Tensor& tensor) override {
    auto all = table_->collect(put(tensor));
    for (auto& other : all)
      if (other.defined()) other = other.to(tensor.device());
    return all;
  }

  void all_reduce(at::Tensor& tensor) override { all_reduce_async(tensor)->wait(); }

  std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) override {
    return std::make_unique<Reducing>(table_, put(tensor), tensor);
  }

  void broadcast(at::Tensor& tensor, int root) override {
    const auto all = all_gather(tensor);
    if (rank_ != root) tensor.detach().copy_(all[static_cast<std::size_t>(root)]);
  }

  std::unique_ptr<Pending> all_gather_async(at::Tensor& flat, const Cuts& cuts) override {
    return std::make_unique<Copying>(table_, put(slice_of(flat, cuts, rank_)),
                                     [target = flat.detach(), cuts](const Tensors& all) {
                                       for (std::size_t r = 0; r < all.size(); ++r)
                                         slice_of(target, cuts, static_cast<int>(r)).copy_(all[r]);
                                     });
  }

  std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts& cuts,
                                          at::Tensor& parts) override {
    return std::make_unique<Copying>(
        table_, put(flat), [own = rank_, parts, cuts](const Tensors& all) {
          for (std::size_t r = 0; r < all.size(); ++r)
            parts.select(0, static_cast<std::int64_t>(r)).copy_(slice_of(all[r], cuts, own));
        });
  }

  void send(const at::Tensor& tensor, int to) override { table_->send(rank_, to, tensor); }
  void receive(at::Tensor& tensor, int from) override {
    tensor.detach().copy_(table_->receive(from, rank_));
  }

  void barrier() override { all_gather({}); }

  void abort(const std::string& reason) override { table_->leave(rank_, reason); }

 private:
  std::uint64_t put(const at::Tensor& tensor) {
    table_->put(round_, rank_, tensor);
    return round_++;
  }

  std::shared_ptr<Table> table_;
  int rank_;
  int size_;
  std::uint64_t round_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Group>> make_thread_groups(int size,
                                                       std::chrono::milliseconds timeout) {
  const auto table = std::make_shared<Table>(size, timeout);
  std::vector<std::unique_ptr<Group>> groups;
  for (int rank = 0; rank < size; ++rank)
    groups.push_back(std::make_unique<ThreadGroup>(table, rank, size));
  return groups;
}

}  // namespace ddptrain
