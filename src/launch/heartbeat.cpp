#include "launch/heartbeat.h"

#include <array>
#include <atomic>
#include <cstring>
#include <new>

#include "base/clock.h"

namespace ddptrain {

/// Words that are atomic one by one: a reader may see a new step with an old phase, never garbage.
struct alignas(64) Heartbeats::Slot {
  std::atomic<std::int64_t> step{-1};
  std::atomic<double> seconds{0};
  std::array<std::atomic<std::uint64_t>, 4> phase{};
};

Heartbeats::Heartbeats(int ranks)
    : ranks_(ranks),
      memory_(sizeof(Slot) * static_cast<std::size_t>(ranks), "the ranks' heartbeats"),
      slots_(static_cast<Slot*>(memory_.data())) {
  for (int rank = 0; rank < ranks; ++rank) {
    new (slots_ + rank) Slot;
    beat(rank, -1, "start");
  }
}

void Heartbeats::beat(int rank, std::int64_t step, std::string_view phase) {
  auto& slot = slots_[rank];
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), phase.data(), std::min(phase.size(), sizeof words));
  for (std::size_t i = 0; i < words.size(); ++i)
    slot.phase[i].store(words[i], std::memory_order_relaxed);
  slot.step.store(step, std::memory_order_relaxed);
  slot.seconds.store(seconds_now(), std::memory_order_release);
}

Beat Heartbeats::last(int rank) const {
  const auto& slot = slots_[rank];
  Beat beat;
  beat.seconds = slot.seconds.load(std::memory_order_acquire);
  beat.step = slot.step.load(std::memory_order_relaxed);
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = slot.phase[i].load(std::memory_order_relaxed);
  std::array<char, sizeof words + 1> text{};
  std::memcpy(text.data(), words.data(), sizeof words);
  beat.phase = text.data();
  return beat;
}

}  // namespace ddptrain
