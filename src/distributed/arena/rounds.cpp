#include "distributed/arena/rounds.h"

#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "launch/arena/rank_arena.h"

namespace ddptrain {
namespace {

/// Elements that ATen adds at once: as many as it leaves to one thread, since threads of ranks that
/// wait for each other would outnumber the cores, and few enough for the cache.
constexpr std::int64_t kAddedAtOnce = 32'000;

/// Elements as a tensor that does not own them.
at::Tensor seen_as(const at::Tensor& like, std::byte* data, std::int64_t elements) {
  return at::from_blob(data, {elements}, like.options());
}

class BarrierRounds final : public CollectiveRounds {
 public:
  BarrierRounds() : CollectiveRounds("barrier") {}
  std::int64_t count() const override { return 1; }
  void write(std::int64_t, std::byte*) override {}
  void read(std::int64_t, const std::vector<std::byte*>&) override {}
};

/// The part of a slice that travels in a round.
struct Part {
  std::int64_t begin = 0, length = 0;  // in elements of the whole
};

/// Elements that go through blocks in rounds, `most` of each slice at once.
class Slices {
 public:
  Slices(const at::Tensor& flat, Cuts cuts, std::size_t most_bytes)
      : bytes_(static_cast<std::int64_t>(flat.element_size())),
        cuts_(std::move(cuts)),
        most_(static_cast<std::int64_t>(most_bytes) / bytes_) {}

  std::int64_t rounds() const {
    std::int64_t longest = 0;
    for (std::size_t r = 0; r + 1 < cuts_.size(); ++r)
      longest = std::max(longest, cuts_[r + 1] - cuts_[r]);
    return (longest + most_ - 1) / most_;
  }
  int count() const { return static_cast<int>(cuts_.size()) - 1; }
  Part part(int slice, std::int64_t round) const {
    const auto begin = cuts_[static_cast<std::size_t>(slice)] + round * most_;
    const auto end = cuts_[static_cast<std::size_t>(slice) + 1];
    return {begin, std::clamp<std::int64_t>(end - begin, 0, most_)};
  }
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements * bytes_);
  }
  std::int64_t first(int slice) const { return cuts_[static_cast<std::size_t>(slice)]; }
  std::int64_t length(int slice) const {
    return cuts_[static_cast<std::size_t>(slice) + 1] - first(slice);
  }

 private:
  std::int64_t bytes_;
  Cuts cuts_;
  std::int64_t most_;
};

/// Into `to`, which may be the first one's place, the sum of elements of all members, added from
/// the first to the last. `like` has their type.
void sum_up(const at::Tensor& like, std::byte* to, const std::vector<std::byte*>& members,
            std::int64_t elements) {
  const auto bytes = like.element_size();
  for (std::int64_t begin = 0; begin < elements; begin += kAddedAtOnce) {
    const auto length = std::min(kAddedAtOnce, elements - begin);
    const auto of = [&](std::byte* data) { return seen_as(like, data + begin * bytes, length); };
    auto sum = of(to);
    at::add_out(sum, of(members[0]), of(members[1]));
    for (std::size_t r = 2; r < members.size(); ++r) sum.add_(of(members[r]));
  }
}

/// Of the elements from `offset` bytes on in each block, into the part.
void sum_blocks(const at::Tensor& flat, const Part& part, std::vector<std::byte*> blocks,
                std::size_t offset) {
  for (auto& block : blocks) block += offset;
  sum_up(flat, bytes_of(flat) + part.begin * flat.element_size(), blocks, part.length);
}

/// Every member adds all up.
class SumByEach final : public CollectiveRounds {
 public:
  explicit SumByEach(at::Tensor flat)
      : CollectiveRounds("all_reduce"),
        flat_(std::move(flat)),
        slices_(flat_, {0, flat_.numel()}, ArenaSeat::kBlock) {}
  std::int64_t count() const override { return slices_.rounds(); }
  void write(std::int64_t i, std::byte* block) override {
    const auto part = slices_.part(0, i);
    std::memcpy(block, bytes_of(flat_) + slices_.bytes(part.begin), slices_.bytes(part.length));
  }
  void read(std::int64_t i, const std::vector<std::byte*>& blocks) override {
    sum_blocks(flat_, slices_.part(0, i), blocks, 0);
  }

 private:
  at::Tensor flat_;
  Slices slices_;
};

/// To each member what the others have in its slice: as sums, in place, or side by side in `parts`.
class SliceRounds final : public CollectiveRounds {
 public:
  SliceRounds(const char* operation, at::Tensor flat, Cuts cuts, int member, at::Tensor parts)
      : CollectiveRounds(operation),
        flat_(std::move(flat)),
        parts_(std::move(parts)),
        member_(member),
        most_(ArenaSeat::kBlock / (cuts.size() - 1) / 64 * 64),
        slices_(flat_, std::move(cuts), most_) {}
  std::int64_t count() const override { return slices_.rounds(); }
  void write(std::int64_t i, std::byte* block) override {
    for (int slice = 0; slice < slices_.count(); ++slice) {
      const auto part = slices_.part(slice, i);
      std::memcpy(block + static_cast<std::size_t>(slice) * most_,
                  bytes_of(flat_) + slices_.bytes(part.begin), slices_.bytes(part.length));
    }
  }
  void read(std::int64_t i, const std::vector<std::byte*>& blocks) override {
    const auto offset = static_cast<std::size_t>(member_) * most_;
    const auto part = slices_.part(member_, i);
    if (!parts_.defined()) return sum_blocks(flat_, part, blocks, offset);
    for (std::size_t r = 0; r < blocks.size(); ++r) {
      const auto row = static_cast<std::int64_t>(r) * slices_.length(member_);
      std::memcpy(bytes_of(parts_) + slices_.bytes(row + part.begin - slices_.first(member_)),
                  blocks[r] + offset, slices_.bytes(part.length));
    }
  }
  bool reads_first() const override { return !parts_.defined(); }

 private:
  at::Tensor flat_, parts_;
  int member_;
  std::size_t most_;  // bytes of a slice in a block
  Slices slices_;
};

/// Slices of their owners to all: those of members, or one of all that a root owns.
class GatherRounds final : public CollectiveRounds {
 public:
  GatherRounds(const char* operation, at::Tensor flat, Cuts cuts, int first_owner, int member)
      : CollectiveRounds(operation),
        flat_(std::move(flat)),
        slices_(flat_, std::move(cuts), ArenaSeat::kBlock),
        first_owner_(first_owner),
        member_(member) {}
  std::int64_t count() const override { return slices_.rounds(); }
  void write(std::int64_t i, std::byte* block) override {
    const int slice = member_ - first_owner_;
    if (slice < 0 || slice >= slices_.count()) return;
    const auto part = slices_.part(slice, i);
    std::memcpy(block, bytes_of(flat_) + slices_.bytes(part.begin), slices_.bytes(part.length));
  }
  void read(std::int64_t i, const std::vector<std::byte*>& blocks) override {
    for (int slice = 0; slice < slices_.count(); ++slice) {
      const int owner = first_owner_ + slice;
      if (owner == member_) continue;
      const auto part = slices_.part(slice, i);
      std::memcpy(bytes_of(flat_) + slices_.bytes(part.begin),
                  blocks[static_cast<std::size_t>(owner)], slices_.bytes(part.length));
    }
  }

 private:
  at::Tensor flat_;
  Slices slices_;
  int first_owner_, member_;
};

/// A sum over a buffer whose parts all members can read and write: each sums up a slice.
class SumInPlace final : public CollectiveRounds {
 public:
  SumInPlace(const char* operation, at::Tensor flat, BufferSum sum)
      : CollectiveRounds(operation),
        flat_(std::move(flat)),
        sum_(std::move(sum)),
        begin_(sum_.cuts[static_cast<std::size_t>(sum_.member)]),
        end_(sum_.cuts[static_cast<std::size_t>(sum_.member) + 1]) {}
  /// In the first all have filled their parts, in the second all have summed up.
  std::int64_t count() const override { return 2; }
  void write(std::int64_t, std::byte*) override {}
  void read(std::int64_t i, const std::vector<std::byte*>&) override {
    if (i > 0) return;
    const auto bytes = flat_.element_size();
    for (auto begin = begin_; begin < end_; begin += kAddedAtOnce) {
      const auto length = std::min(kAddedAtOnce, end_ - begin);
      auto from = sum_.parts;
      for (auto& member : from) member += begin * bytes;
      sum_up(flat_, from.front(), from, length);
      for (std::size_t r = 1; r < from.size(); ++r)
        if (sum_.everywhere || static_cast<int>(r) == sum_.member)
          std::memcpy(from[r], from.front(), static_cast<std::size_t>(length * bytes));
    }
  }
  bool reads_first() const override { return true; }

 private:
  at::Tensor flat_;
  BufferSum sum_;
  std::int64_t begin_, end_;  // of the own slice
};

}  // namespace

std::byte* bytes_of(const at::Tensor& flat) { return static_cast<std::byte*>(flat.data_ptr()); }

Collective barrier_rounds() { return std::make_shared<BarrierRounds>(); }

Collective sum_by_each(at::Tensor flat) { return std::make_shared<SumByEach>(std::move(flat)); }

Collective sum_of_slice(const char* operation, at::Tensor flat, Cuts cuts, int member) {
  return std::make_shared<SliceRounds>(operation, std::move(flat), std::move(cuts), member,
                                       at::Tensor());
}

Collective sum_in_place(const char* operation, at::Tensor flat, BufferSum sum) {
  return std::make_shared<SumInPlace>(operation, std::move(flat), std::move(sum));
}

Collective exchange_rounds(at::Tensor flat, Cuts cuts, int member, at::Tensor parts) {
  return std::make_shared<SliceRounds>("all_to_all", std::move(flat), std::move(cuts), member,
                                       std::move(parts));
}

Collective gather_rounds(const char* operation, at::Tensor flat, Cuts cuts, int member) {
  return std::make_shared<GatherRounds>(operation, std::move(flat), std::move(cuts), 0, member);
}

Collective broadcast_rounds(at::Tensor flat, int root, int member) {
  Cuts whole{0, flat.numel()};
  return std::make_shared<GatherRounds>("broadcast", std::move(flat), std::move(whole), root,
                                        member);
}

}  // namespace ddptrain
