// Why a rank failed: noted by the rank at once, read by the launcher when the rank is gone.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "launch/topology.h"

namespace ddptrain {

struct Failure {
  int rank = 0;
  double seconds = 0;  // on seconds_now()'s clock, which all processes of a machine share
  Exit code = Exit::bug;
  std::string message;
  Place place;
  bool secondary = false;  // a consequence of how another rank ended
};

/// Of a collective whose peer is gone.
inline constexpr const char* kPeerEnded = "another rank has ended; its own message says why";

/// A collective failed because another rank ended or hangs: never the cause of a run's end where a
/// rank has a reason of its own.
class PeerError : public Error {
 public:
  explicit PeerError(const std::string& message) : Error(Exit::device, message) {}
  /// With the code, the number and the words of the rank that was the cause.
  explicit PeerError(const Failure& cause);
};

/// A device's memory ended in a part of the work.
class OutOfMemory : public Error {
 public:
  OutOfMemory(std::string phase, std::string asked);
  const std::string& phase() const { return phase_; }  // "the backward pass"
  const std::string& asked() const { return asked_; }  // "2.00 GiB"; empty: not known

 private:
  std::string phase_;
  std::string asked_;
};

/// Throws an exception again: as an OutOfMemory where that is what it means.
[[noreturn]] void rethrow_from(const char* phase, std::exception_ptr error);

/// Runs a part of the work on a device, whose name an OutOfMemory gets.
template <class Body>
auto in_phase(const char* phase, Body body) {
  try {
    return body();
  } catch (...) {
    rethrow_from(phase, std::current_exception());
  }
}

/// What an exception means: an Error as it says; others by the words of LibTorch and of the
/// devices' libraries, no memory as Exit::memory and the like, in one line; anything else as a bug.
Failure failure_of(std::exception_ptr error, int rank);

/// Leaves a record for what started this rank: our launcher (in topology.store), torchrun (where
/// TORCHELASTIC_ERROR_FILE says). A rank's first record stays. Never throws.
void report_failure(const Topology& topology, const Failure& failure) noexcept;

/// From now on an uncaught exception, as in a thread of NCCL's, is a failure of this
/// rank too: recorded, logged, and the process ends with its code; a bug aborts as before.
void report_what_no_one_catches(const Topology& topology);

/// What ends this rank: `own`, or the failure of which it is a consequence. Called by any thread.
using Explain = std::function<Failure(const Failure& own)>;
/// From now on such an exception is reported as `explain` says.
void explain_what_no_one_catches(Explain explain);

/// Of the threads that end this process with a failure, the first goes on; for the others this
/// returns after 30 seconds, where the first has not ended the process.
void claim_last_words();

/// Ends this process at once with a failure: recorded, logged, and its code. Called by any thread.
[[noreturn]] void end_process(const Failure& failure);

/// Runs `body`. What it throws is recorded before anything outside of it is destroyed: run what
/// uses process groups in it, and a peer that loses its connection finds the cause on record.
template <class Body>
auto recorded(const Topology& topology, Body body) {
  try {
    return body();
  } catch (...) {
    report_failure(topology, failure_of(std::current_exception(), topology.rank));
    throw;
  }
}

/// A record as text, and back; nothing where the text is none.
std::string to_record(const Failure& failure);
std::optional<Failure> from_record(const std::string& text);

/// The record that a rank left in a store's folder.
std::optional<Failure> read_failure(const std::string& folder, int rank);

}  // namespace ddptrain
