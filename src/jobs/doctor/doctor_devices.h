// The devices of `doctor`: what there is, and whether it works.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// What was found, and what to do about it; no advice where all is well.
struct Observation {
  std::string text;
  std::string advice = {};
};

struct NamedObservation {
  std::string name;
  Observation found;
};

/// Driver, libraries and devices, and a sum over one tensor on each of two of them, if there are
/// any: made in child processes, so that a device that hangs or crashes is a finding.
std::vector<NamedObservation> device_observations();

}  // namespace ddptrain
