// Lamport's order of what streams do, as vector clocks (Fidge 1988, Mattern 1989).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ddptrain::stand_in {

/// How many operations of each stream have surely ended: stream i's first of(i) ones.
class VectorClock {
 public:
  std::uint64_t of(int stream) const {
    const auto at = static_cast<std::size_t>(stream);
    return at < ended_.size() ? ended_[at] : 0;
  }
  void advance(int stream) {
    const auto at = static_cast<std::size_t>(stream);
    if (at >= ended_.size()) ended_.resize(at + 1);
    ++ended_[at];
  }
  void join(const VectorClock& other) {
    if (other.ended_.size() > ended_.size()) ended_.resize(other.ended_.size());
    for (std::size_t i = 0; i < other.ended_.size(); ++i)
      ended_[i] = std::max(ended_[i], other.ended_[i]);
  }
  bool knows(const VectorClock& other) const {
    for (std::size_t i = 0; i < other.ended_.size(); ++i)
      if (other.ended_[i] > of(static_cast<int>(i))) return false;
    return true;
  }

 private:
  std::vector<std::uint64_t> ended_;
};

}  // namespace ddptrain::stand_in
