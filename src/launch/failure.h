// Why a rank failed: noted by the rank at once, read by the launcher when the rank is gone.
#pragma once

#include <cstdint>
#include <exception>
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
};

/// What an exception means: an Error as it says, no memory as Exit::memory, anything else as a bug.
Failure failure_of(std::exception_ptr error, int rank);

/// Leaves a record for whoever started this rank: our launcher (in topology.store), torchrun (where
/// TORCHELASTIC_ERROR_FILE says). Never throws.
void report_failure(const Topology& topology, const Failure& failure) noexcept;

/// The record that a rank left in a store's folder.
std::optional<Failure> read_failure(const std::string& folder, int rank);

}  // namespace ddptrain
