// What differs between the recipe that a run was started with and the one that it resumes with.
#pragma once

#include <string>
#include <vector>

#include "config/node.h"

namespace ddptrain {

struct Change {
  std::string path;     // "train.duration"
  std::string before;   // as YAML; empty: the option was not there
  std::string after;    // empty: it is not there any more
  std::string meaning;  // for the steps that follow
};

/// Differences of two complete recipes, in the order of the second.
std::vector<Change> changes(const Node& before, const Node& after);

std::string to_text(const Change& change);

}  // namespace ddptrain
