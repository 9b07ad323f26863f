#include "sources/tokens/packing.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/error.h"

namespace ddptrain {
namespace {

/// Blocks by the room that they have.
class OpenBlocks {
 public:
  explicit OpenBlocks(std::int64_t block) : block_(block) {}

  void add(const Piece& piece) {
    const auto found = by_room_.lower_bound(piece.length);
    if (found == by_room_.end()) {
      blocks_.push_back({piece});
      return set_room(blocks_.size() - 1, block_ - piece.length);
    }
    const auto room = found->first;
    const auto at = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) by_room_.erase(found);
    blocks_[at].push_back(piece);
    set_room(at, room - piece.length);
  }

  std::vector<PackedBlock> take() { return std::move(blocks_); }

 private:
  void set_room(std::size_t at, std::int64_t room) {
    if (room > 0) by_room_[room].push_back(at);
  }

  std::int64_t block_;
  std::vector<PackedBlock> blocks_;
  std::map<std::int64_t, std::deque<std::size_t>> by_room_;
};

}  // namespace

std::vector<PackedBlock> best_fit_decreasing(std::span<const Piece> pieces, std::int64_t block) {
  std::vector<Piece> sorted(pieces.begin(), pieces.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Piece& a, const Piece& b) { return a.length > b.length; });
  OpenBlocks open(block);
  for (const auto& piece : sorted) {
    DDP_CHECK(piece.length > 0 && piece.length <= block, "a piece fits into a block");
    open.add(piece);
  }
  return open.take();
}

std::vector<Piece> cut_documents(std::span<const std::int64_t> lengths, std::int64_t block) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] > 0)
      pieces.push_back({static_cast<std::int64_t>(i), 0, std::min(lengths[i], block)});
  return pieces;
}

std::vector<Piece> split_documents(std::span<const std::int64_t> lengths, std::int64_t block) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::int64_t first = 0; first < lengths[i]; first += block)
      pieces.push_back({static_cast<std::int64_t>(i), first, std::min(block, lengths[i] - first)});
  return pieces;
}

}  // namespace ddptrain
