#include "launch/arena/rank_arena.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/output/log.h"
#include "launch/affinity.h"
#include "launch/arena/shared_bell.h"
#include "launch/arena/shared_buffer.h"

namespace ddptrain {

/// Of a rank in the groups of one purpose. All zero bytes are one that was not used.
struct alignas(128) RankArena::Slot {
  std::atomic<std::uint64_t> round{0};  // at which it arrived
  std::atomic<pid_t> process{0};        // 0: not known
  std::atomic<bool> left{false};
  std::atomic<int> addressee{0};  // of the letter in its room, from 1; 0: no letter
  SharedBell letters;
  // Of the group of which it is the first member:
  alignas(128) std::atomic<std::uint64_t> arrivals{0};  // of all members at all rounds
  SharedBell complete;                                  // a round is
};

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::size_t kBlocks = 3;
constexpr std::size_t kRoom = kBlocks * ArenaSeat::kBlock + ArenaSeat::kLetter;
constexpr auto kSlice = 20ms;  // of a wait: then it looks who has ended
constexpr auto kSpin = 30us;   // less than the system takes to wake a process

/// One that has ended is none, even while its parent has not asked for its code. Where the system
/// cannot tell (before Linux 5.3), the launcher ends those that wait.
bool is_running(pid_t process) {
  const auto file = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (file < 0) return errno != ESRCH;
  pollfd ended{file, POLLIN, 0};
  const bool running = ::poll(&ended, 1, 0) <= 0;
  ::close(file);
  return running;
}

std::size_t usable_core_count() {
  std::size_t count = 0;
  for (const auto& node : usable_cores()) count += node.size();
  return count;
}

}  // namespace

RankArena::RankArena(int ranks)
    : ranks_(ranks),
      spins_(static_cast<std::size_t>(ranks) <= usable_core_count()),
      memory_(static_cast<std::size_t>(ranks) * kPurposes * (sizeof(Slot) + kRoom),
              "what ranks exchange") {
  auto* slots = static_cast<std::byte*>(memory_.data());
  for (int i = 0; i < ranks * kPurposes; ++i)
    new (slots + static_cast<std::size_t>(i) * sizeof(Slot)) Slot;
  for (int purpose = 0; purpose < kPurposes; ++purpose) {
    files_.push_back(make_buffer_file());
    if (files_.back() >= 0) continue;
    close_files();
    throw Error(Exit::memory, "no shared memory for what ranks exchange");
  }
}

RankArena::~RankArena() { close_files(); }

void RankArena::close_files() {
  for (const int file : files_)
    if (file >= 0) ::close(file);
}

RankArena::Slot& RankArena::slot(int purpose, int rank) const {
  DDP_CHECK(purpose >= 0 && purpose < kPurposes && rank >= 0 && rank < ranks_,
            "a place in the arena");
  return static_cast<Slot*>(memory_.data())[purpose * ranks_ + rank];
}

std::byte* RankArena::room(int purpose, int rank) const {
  auto* rooms = static_cast<std::byte*>(memory_.data()) +
                static_cast<std::size_t>(ranks_ * kPurposes) * sizeof(Slot);
  return rooms + static_cast<std::size_t>(purpose * ranks_ + rank) * kRoom;
}

void RankArena::set_process(int rank, pid_t process) {
  for (int purpose = 0; purpose < kPurposes; ++purpose) slot(purpose, rank).process = process;
}

std::shared_ptr<RankArena> make_rank_arena(int ranks) {
  try {
    return std::make_shared<RankArena>(ranks);
  } catch (const Error& error) {
    log::warning("{}: they use the loopback network (Gloo), more slowly", error.what());
    return nullptr;
  }
}

ArenaSeat::ArenaSeat(std::shared_ptr<RankArena> arena, int purpose, std::span<const int> ranks,
                     int member)
    : arena_(std::move(arena)), member_(member) {
  for (const int rank : ranks) {
    slots_.push_back(&arena_->slot(purpose, rank));
    rooms_.push_back(arena_->room(purpose, rank));
  }
}

ArenaSeat::~ArenaSeat() { leave(); }

void ArenaSeat::leave() { slots_[static_cast<std::size_t>(member_)]->left = true; }

std::byte* ArenaSeat::block(int member, std::uint64_t round) const {
  return rooms_[static_cast<std::size_t>(member)] + round % kBlocks * kBlock;
}

void ArenaSeat::arrive() {
  slots_[static_cast<std::size_t>(member_)]->round = ++round_;
  auto& first = *slots_.front();
  if (++first.arrivals == round_ * slots_.size()) first.complete.ring();
}

ArenaSeat::Met ArenaSeat::meet(milliseconds timeout) {
  auto& first = *slots_.front();
  const auto all = round_ * slots_.size();
  return wait(
      first.complete, timeout, [&] { return first.arrivals.load() >= all; },
      [&] {
        for (int member = 0; member < size(); ++member)
          if (is_lost(member, slots_[static_cast<std::size_t>(member)]->round < round_))
            return true;
        return false;
      });
}

std::vector<int> ArenaSeat::missing() const {
  std::vector<int> members;
  for (int member = 0; member < size(); ++member)
    if (slots_[static_cast<std::size_t>(member)]->round < round_) members.push_back(member);
  return members;
}

ArenaSeat::Met ArenaSeat::send(int to, std::span<const std::byte> letter, milliseconds timeout) {
  auto& own = *slots_[static_cast<std::size_t>(member_)];
  const auto met = wait(
      own.letters, timeout, [&] { return own.addressee == 0; },
      [&] { return is_lost(own.addressee - 1, true); });
  if (met != Met::all) return met;
  std::memcpy(rooms_[static_cast<std::size_t>(member_)] + kBlocks * kBlock, letter.data(),
              letter.size());
  own.addressee = to + 1;
  own.letters.ring();
  return Met::all;
}

ArenaSeat::Met ArenaSeat::receive(int from, std::span<std::byte> letter, milliseconds timeout) {
  auto& other = *slots_[static_cast<std::size_t>(from)];
  const auto met = wait(
      other.letters, timeout, [&] { return other.addressee == member_ + 1; },
      [&] { return is_lost(from, true); });
  if (met != Met::all) return met;
  std::memcpy(letter.data(), rooms_[static_cast<std::size_t>(from)] + kBlocks * kBlock,
              letter.size());
  other.addressee = 0;
  other.letters.ring();
  return Met::all;
}

bool ArenaSeat::is_lost(int member, bool awaited) const {
  if (member < 0 || member == member_) return false;
  const auto& slot = *slots_[static_cast<std::size_t>(member)];
  // In this order: one that leaves and ends in between has left.
  const pid_t process = slot.process;
  const bool ended = process != 0 && !is_running(process);
  return slot.left ? awaited : ended;
}

ArenaSeat::Met ArenaSeat::wait(SharedBell& bell, milliseconds timeout,
                               const std::function<bool()>& condition,
                               const std::function<bool()>& lost) const {
  using Clock = std::chrono::steady_clock;
  if (condition()) return Met::all;
  if (arena_->spins_)
    for (const auto end = Clock::now() + kSpin; Clock::now() < end;)
      if (condition()) return Met::all;
  // In slices: while the process is suspended, one goes by at most.
  for (auto left = timeout; left.count() > 0;) {
    const auto count = bell.count();
    if (condition()) return Met::all;
    const auto slice = std::min<milliseconds>(left, kSlice);
    if (!bell.sleep(count, slice)) left -= slice;
    if (condition()) return Met::all;
    if (lost()) return condition() ? Met::all : Met::lost_member;
  }
  return condition() ? Met::all : Met::timed_out;
}

}  // namespace ddptrain
