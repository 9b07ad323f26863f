// What a member of a group says that waited for another in vain.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "launch/failure.h"

namespace ddptrain {

/// "300 s" or "1500 ms"
std::string in_words(std::chrono::milliseconds time);

/// "rank 1, all_reduce of the gradients group: "
inline std::string place_of_failure(int rank, const char* operation, const std::string& group) {
  return fmt::format("rank {}, {} of the {} group: ", rank, operation, group);
}

inline PeerError peer_has_ended(const std::string& place) { return PeerError(place + kPeerEnded); }

inline PeerError peer_is_silent(const std::string& place, std::chrono::milliseconds timeout) {
  return PeerError(place + "another rank did not answer within " + in_words(timeout) +
                   ": it hangs, or 'parallel.timeout.step' is too short");
}

}  // namespace ddptrain
