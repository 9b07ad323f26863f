// Groups over rounds in shared memory, and the buffers that members share.
#include "distributed/arena/arena_group.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/error.h"
#include "distributed/arena/rounds.h"
#include "distributed/lost_peer.h"
#include "launch/arena/rank_arena.h"
#include "launch/arena/shared_buffer.h"

namespace ddptrain {
namespace {

/// Larger sums of more than three members are divided among them.
constexpr std::size_t kMostByEach = 64 << 10;
constexpr int kFewMembers = 3;
constexpr std::int64_t kCacheLine = 64;  // elements, of one byte or more
constexpr std::size_t kPage = 4096;

/// Where the parts of buffers are, for as long as their tensors live.
class Buffers {
 public:
  explicit Buffers(std::shared_ptr<RankArena> arena) : arena_(std::move(arena)) {}

  void add(std::shared_ptr<SharedBuffer> buffer, std::byte* own) {
    all_[own] = {std::move(buffer), own};
  }
  void remove(std::byte* own) { all_.erase(own); }

  /// What each member has in place of `flat`; empty where that is in no buffer.
  MemberParts parts_of(const at::Tensor& flat) const {
    auto next = all_.upper_bound(bytes_of(flat));
    if (next == all_.begin()) return {};
    const auto& [buffer, own] = std::prev(next)->second;
    const auto begin = bytes_of(flat) - own;
    if (begin + static_cast<std::ptrdiff_t>(flat.nbytes()) >
        static_cast<std::ptrdiff_t>(buffer->bytes()))
      return {};
    MemberParts parts;
    for (int member = 0; member < buffer->size(); ++member)
      parts.push_back(buffer->of(member) + begin);
    return parts;
  }

 private:
  struct Kept {
    std::shared_ptr<SharedBuffer> buffer;
    std::byte* own;
  };
  std::shared_ptr<RankArena> arena_;  // whose file they are in
  std::map<std::byte*, Kept> all_;    // by where this member's begins
};

/// Names a part of the work in a profile while it lives.
class RecordedName {
 public:
  explicit RecordedName(const char* operation) : guard_(at::RecordScope::FUNCTION) {
    if (guard_.isActive()) guard_.before(std::string("shared_memory:") + operation);
  }

 private:
  at::RecordFunction guard_;
};

/// Makes collectives in the order in which they began.
class RoundQueue {
 public:
  RoundQueue(std::shared_ptr<RankArena> arena, ArenaGroupOptions options)
      : options_(std::move(options)),
        seat_(std::move(arena), static_cast<int>(options_.purpose), options_.ranks,
              options_.member) {}

  int size() const { return seat_.size(); }
  ArenaSeat& seat() { return seat_; }
  const ArenaGroupOptions& options() const { return options_; }

  void begin(const Collective& collective) {
    if (collective->count() == 0) return;
    queue_.push_back(collective);
    if (queue_.size() == 1) post();
  }

  /// Until it has been made.
  void finish(const Collective& collective) {
    while (std::find(queue_.begin(), queue_.end(), collective) != queue_.end()) make_first();
  }

  [[noreturn]] void fail(const char* operation, ArenaSeat::Met met) const {
    const auto place = place_of_failure(options_.ranks[static_cast<std::size_t>(seat_.member())],
                                        operation, options_.name);
    if (met == ArenaSeat::Met::lost_member) throw peer_has_ended(place);
    throw peer_is_silent(place, options_.timeout);
  }

 private:
  /// Writes the next block, of the collective that is first in the queue or follows it.
  void post() {
    std::size_t which = 0;
    if (next_ == queue_.front()->count()) ++which, next_ = 0;
    if (which == queue_.size()) return;
    queue_[which]->write(next_++, seat_.block(seat_.member(), seat_.round() + 1));
    seat_.arrive();
  }

  void make_first() {
    const auto collective = queue_.front();
    const RecordedName recorded(collective->operation());
    std::vector<std::byte*> blocks(static_cast<std::size_t>(size()));
    for (std::int64_t i = 0; i < collective->count(); ++i) {
      const auto round = seat_.round();
      if (const auto met = seat_.meet(options_.timeout); met != ArenaSeat::Met::all)
        fail(collective->operation(), met);
      for (int member = 0; member < size(); ++member)
        blocks[static_cast<std::size_t>(member)] = seat_.block(member, round);
      if (!collective->reads_first()) post();
      collective->read(i, blocks);
      if (collective->reads_first()) post();
    }
    queue_.pop_front();
  }

  ArenaGroupOptions options_;
  ArenaSeat seat_;
  std::deque<Collective> queue_;
  std::int64_t next_ = 0;  // round to be written of the collective that is posted
};

class Waiter final : public Pending {
 public:
  Waiter(RoundQueue& queue, std::vector<Collective> collectives, at::Tensor flat, at::Tensor target)
      : queue_(queue),
        collectives_(std::move(collectives)),
        flat_(std::move(flat)),
        target_(std::move(target)) {
    for (const auto& collective : collectives_) queue_.begin(collective);
  }

  void wait() override {
    if (collectives_.empty()) return;
    queue_.finish(collectives_.back());
    collectives_.clear();
    if (!flat_.is_alias_of(target_)) target_.copy_(flat_.view(target_.sizes()));
  }

 private:
  RoundQueue& queue_;
  std::vector<Collective> collectives_;
  at::Tensor flat_;    // contiguous
  at::Tensor target_;  // where it is wanted
};

class ArenaGroup final : public Group {
 public:
  ArenaGroup(std::shared_ptr<RankArena> arena, const ArenaGroupOptions& options)
      : file_(arena->buffer_file(static_cast<int>(options.purpose))),
        buffers_(std::make_shared<Buffers>(arena)),
        queue_(std::move(arena), options) {}

  int rank() const override { return queue_.options().member; }
  int size() const override { return static_cast<int>(queue_.options().ranks.size()); }
  std::string transport() const override { return kSharedMemory; }

  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return all_gather_stacked(tensor).unbind();
  }

  at::Tensor all_gather_stacked(const at::Tensor& tensor) override {
    auto sizes = tensor.sizes().vec();
    sizes.insert(sizes.begin(), size());
    auto all = at::empty(sizes, tensor.options().memory_format(at::MemoryFormat::Contiguous));
    if (tensor.numel() == 0) return all;
    all[rank()].copy_(tensor.detach());
    auto flat = all.view(-1);
    all_gather_async(flat, even_cuts(flat.numel(), size(), tensor.numel()))->wait();
    return all;
  }

  /// Ordinary memory where one of the members has no more of the other kind.
  at::Tensor buffer(std::int64_t elements, const at::TensorOptions& options) override {
    const auto bytes = static_cast<std::size_t>(elements) * options.dtype().itemsize();
    if (bytes <= kMostByEach) return Group::buffer(elements, options);
    auto shared = reserved_buffer(bytes);
    if (!shared) return Group::buffer(elements, options);
    auto* own = shared->of(rank());
    buffers_->add(std::move(shared), own);
    const auto free = [buffers = buffers_, own](void*) { buffers->remove(own); };
    return at::from_blob(own, {elements}, free, options);
  }

  void all_reduce(at::Tensor& tensor) override { all_reduce_async(tensor)->wait(); }

  std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) override {
    auto target = on_cpu(tensor);
    auto flat = target.contiguous().view(-1);
    const auto cuts = even_cuts(flat.numel(), size(), kCacheLine);
    if (flat.nbytes() > kMostByEach)
      if (auto parts = buffers_->parts_of(flat); !parts.empty())
        return waiter({sum_in_place("all_reduce", flat, {std::move(parts), cuts, rank(), true})},
                      flat, target);
    if (flat.nbytes() <= kMostByEach || size() <= kFewMembers)
      return waiter({sum_by_each(flat)}, flat, target);
    return waiter({sum_of_slice("all_reduce", flat, cuts, rank()),
                   gather_rounds("all_reduce", flat, cuts, rank())},
                  flat, target);
  }

  void broadcast(at::Tensor& tensor, int root) override {
    auto target = on_cpu(tensor);
    auto flat = target.contiguous().view(-1);
    waiter({broadcast_rounds(flat, root, rank())}, flat, target)->wait();
  }

  std::unique_ptr<Pending> reduce_scatter_async(at::Tensor& flat, const Cuts& cuts) override {
    const auto whole = on_cpu(flat);
    if (auto parts = buffers_->parts_of(whole); !parts.empty())
      return waiter(
          {sum_in_place("reduce_scatter", whole, {std::move(parts), cuts, rank(), false})}, whole,
          whole);
    return waiter({sum_of_slice("reduce_scatter", whole, cuts, rank())}, whole, whole);
  }

  std::unique_ptr<Pending> all_gather_async(at::Tensor& flat, const Cuts& cuts) override {
    const auto whole = on_cpu(flat);
    return waiter({gather_rounds("all_gather", whole, cuts, rank())}, whole, whole);
  }

  std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts& cuts,
                                          at::Tensor& parts) override {
    const auto rows = on_cpu(parts);
    return waiter({exchange_rounds(on_cpu(flat), cuts, rank(), rows)}, rows, rows);
  }

  void send(const at::Tensor& tensor, int to) override {
    const auto flat = on_cpu(tensor).contiguous();
    for_each_letter(flat, "send", [&](std::span<std::byte> letter) {
      return queue_.seat().send(to, letter, queue_.options().timeout);
    });
  }

  void receive(at::Tensor& tensor, int from) override {
    for_each_letter(on_cpu(tensor), "receive", [&](std::span<std::byte> letter) {
      return queue_.seat().receive(from, letter, queue_.options().timeout);
    });
  }

  void barrier() override {
    const at::Tensor none = at::empty({0});
    waiter({barrier_rounds()}, none, none)->wait();
  }

  void abort(const std::string&) override { queue_.seat().leave(); }

 private:
  static at::Tensor on_cpu(const at::Tensor& tensor) {
    DDP_CHECK(tensor.is_cpu(), "ranks share memory of the CPU");
    return tensor.detach();
  }

  /// Null, on all members, where one of them has no memory for it.
  std::shared_ptr<SharedBuffer> reserved_buffer(std::size_t bytes) {
    const SharedBuffer::Place place{file_, next_buffer_, (bytes + kPage - 1) / kPage * kPage};
    auto shared = std::make_shared<SharedBuffer>(place, queue_.options().ranks, rank());
    if (!all_agree(shared->is_reserved())) return nullptr;
    next_buffer_ += place.bytes;
    return all_agree(shared->map()) ? shared : nullptr;
  }

  bool all_agree(bool own) {
    auto agreed = at::full({1}, own ? 1 : 0, at::kLong);
    all_reduce(agreed);
    return agreed.item<std::int64_t>() == size();
  }

  std::unique_ptr<Pending> waiter(std::vector<Collective> collectives, const at::Tensor& flat,
                                  const at::Tensor& target) {
    return std::make_unique<Waiter>(queue_, std::move(collectives), flat, target);
  }

  template <class Exchange>
  void for_each_letter(const at::Tensor& flat, const char* operation, Exchange exchange) {
    DDP_CHECK(flat.is_contiguous(), "what a member receives into is contiguous");
    for (std::size_t begin = 0; begin < flat.nbytes(); begin += ArenaSeat::kLetter) {
      const auto bytes = std::min(ArenaSeat::kLetter, flat.nbytes() - begin);
      const auto met = exchange(std::span(bytes_of(flat) + begin, bytes));
      if (met != ArenaSeat::Met::all) queue_.fail(operation, met);
    }
  }

  int file_;
  std::uint64_t next_buffer_ = 0;  // where it begins in the file
  std::shared_ptr<Buffers> buffers_;
  RoundQueue queue_;
};

}  // namespace

std::unique_ptr<Group> make_arena_group(std::shared_ptr<RankArena> arena,
                                        const ArenaGroupOptions& options) {
  if (options.ranks.size() == 1) return make_single_group();
  return std::make_unique<ArenaGroup>(std::move(arena), options);
}

}  // namespace ddptrain
