// Floating-point operations of what runs in this process, counted as torch.utils.flop_counter does:
// two for each multiply-add of convolutions, matrix products, attention and recurrent layers,
// and of their backward passes.
#pragma once

#include <atomic>
#include <cstdint>

namespace ddptrain {

/// Counts while it lives, in all threads; one at a time in a process.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;
  std::int64_t count() const { return count_; }

 private:
  friend void add_flops(std::int64_t multiply_adds);
  std::atomic<std::int64_t> count_ = 0;
  std::uint64_t handle_;
};

}  // namespace ddptrain
