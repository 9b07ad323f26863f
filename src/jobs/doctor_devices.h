// The devices of `doctor`: what there is, and whether it works.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// What was found, and what to do about it; no advice where all is well.
struct Finding {
  std::string text;
  std::string advice = {};
};

struct NamedFinding {
  std::string name;
  Finding found;
};

/// Driver, libraries and devices, and a sum over one tensor on each of two of them, if there are
/// any: made in child processes, so that a device that hangs or crashes is a finding.
std::vector<NamedFinding> device_findings();

}  // namespace ddptrain
