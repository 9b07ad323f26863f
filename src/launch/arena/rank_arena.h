// Memory through which the ranks of one machine exchange bytes. One process maps it and forks them;
// it has no name, so nothing is left of it when they end, however they end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "launch/shared_memory.h"

namespace ddptrain {

class ArenaSeat;
class SharedBell;

class RankArena {
 public:
  /// Groups of different purposes exchange at the same time.
  static constexpr int kPurposes = 6;

  /// An Error (Exit::memory) where the system has none. Only pages in use take memory: at most
  /// 3.1 MiB for each rank and purpose, and the buffers.
  explicit RankArena(int ranks);
  ~RankArena();
  RankArena(const RankArena&) = delete;
  RankArena& operator=(const RankArena&) = delete;

  int ranks() const { return ranks_; }
  /// Called by the process that forks it; from now on the others notice its end.
  void set_process(int rank, pid_t process);
  /// Of the buffers of a purpose (SharedBuffer).
  int buffer_file(int purpose) const { return files_[static_cast<std::size_t>(purpose)]; }

 private:
  friend class ArenaSeat;
  struct Slot;
  Slot& slot(int purpose, int rank) const;
  std::byte* room(int purpose, int rank) const;
  void close_files();

  int ranks_;
  bool spins_;  // every rank has a core
  SharedMemory memory_;
  std::vector<int> files_;
};

/// Null, with a warning, where the system has no such memory.
std::shared_ptr<RankArena> make_rank_arena(int ranks);

/// The place of a rank in a group. Members exchange in rounds, counted from 1: each writes its
/// block of a round, arrives, meets the others, and reads their blocks. Having met them it may
/// write the block of the next round and arrive there before it reads: there are three blocks for
/// each.
class ArenaSeat {
 public:
  enum class Met { all, lost_member, timed_out };
  static constexpr std::size_t kBlock = 1 << 20;
  static constexpr std::size_t kLetter = 64 << 10;

  /// In a group of these ranks, in their order, of which this is `ranks[member]`. A rank has one
  /// seat for each purpose.
  ArenaSeat(std::shared_ptr<RankArena> arena, int purpose, std::span<const int> ranks, int member);
  /// Leaves.
  ~ArenaSeat();
  ArenaSeat(const ArenaSeat&) = delete;
  ArenaSeat& operator=(const ArenaSeat&) = delete;

  int size() const { return static_cast<int>(slots_.size()); }
  int member() const { return member_; }
  /// kBlock bytes that a member writes for a round.
  std::byte* block(int member, std::uint64_t round) const;
  /// The last round at which this member arrived; 0: none.
  std::uint64_t round() const { return round_; }
  void arrive();
  /// Waits until all have arrived at that round. A member is lost whose process ended without
  /// leaving, and one that left before it arrived.
  Met meet(std::chrono::milliseconds timeout);
  /// Those that have not arrived at it.
  std::vector<int> missing() const;

  /// At most kLetter bytes to one member. Waits until its addressee has read the one before.
  Met send(int to, std::span<const std::byte> letter, std::chrono::milliseconds timeout);
  Met receive(int from, std::span<std::byte> letter, std::chrono::milliseconds timeout);

  /// The others lose this member.
  void leave();

 private:
  bool is_lost(int member, bool awaited) const;
  Met wait(SharedBell& bell, std::chrono::milliseconds timeout,
           const std::function<bool()>& condition, const std::function<bool()>& lost) const;

  std::shared_ptr<RankArena> arena_;
  std::vector<RankArena::Slot*> slots_;
  std::vector<std::byte*> rooms_;
  int member_;
  std::uint64_t round_ = 0;
};

}  // namespace ddptrain
