#include "optim/state_chunks.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ddptrain {
namespace {

/// Elements, from the first `done` on, whose state fits into `room` bytes.
std::int64_t elements_that_fit(const ChunkMember& member, std::int64_t done, std::int64_t room) {
  const auto left = member.elements - done;
  if (member.bytes_of(left) <= room) return left;
  const auto all =
      std::accumulate(member.slot_bytes.begin(), member.slot_bytes.end(), std::int64_t{0});
  return std::min(left, room / (all / member.elements) / kChunkUnit * kChunkUnit);
}

class Chunks {
 public:
  explicit Chunks(std::int64_t limit) : limit_(limit) {}

  void add_whole(std::size_t index, const ChunkMember& member) {
    const auto bytes = member.bytes_of(member.elements);
    if (bytes > limit_ - used_) close();
    add({index, 0, member.elements}, bytes);
  }

  void add_divided(std::size_t index, const ChunkMember& member) {
    for (std::int64_t done = 0; done < member.elements;) {
      auto count = elements_that_fit(member, done, limit_ - used_);
      if (count == 0) {
        close();
        count = std::max(elements_that_fit(member, done, limit_),
                         std::min(kChunkUnit, member.elements - done));
      }
      add({index, done, count}, member.bytes_of(count));
      done += count;
    }
  }

  std::vector<std::vector<ChunkPart>> finish() {
    close();
    return std::move(chunks_);
  }

 private:
  void add(const ChunkPart& part, std::int64_t bytes) {
    open_.push_back(part);
    used_ += bytes;
  }
  void close() {
    if (!open_.empty()) chunks_.push_back(std::exchange(open_, {}));
    used_ = 0;
  }

  std::int64_t limit_, used_ = 0;
  std::vector<ChunkPart> open_;
  std::vector<std::vector<ChunkPart>> chunks_;
};

}  // namespace

std::int64_t aligned_bytes(std::int64_t bytes) {
  return (bytes + kStateAlignment - 1) / kStateAlignment * kStateAlignment;
}

std::int64_t ChunkMember::bytes_of(std::int64_t count) const {
  std::int64_t all = 0;
  for (const auto bytes : slot_bytes)
    all += aligned_bytes(count == elements ? bytes : bytes / elements * count);
  return all;
}

std::vector<std::vector<ChunkPart>> cut_into_chunks(const std::vector<ChunkMember>& members,
                                                    std::int64_t limit) {
  Chunks chunks(limit);
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].divisible && members[i].elements > 0)
      chunks.add_divided(i, members[i]);
    else
      chunks.add_whole(i, members[i]);
  return chunks.finish();
}

}  // namespace ddptrain
