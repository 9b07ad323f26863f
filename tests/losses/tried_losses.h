// The losses with what they take and are tried on: the one table to which a new loss adds a row.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace ddptrain {

/// What a target holds: classes of rows or of pixels, a probability or a number of each output.
enum class Given { label, pixel_label, probabilities, number };

struct TriedLoss {
  struct Case {
    nlohmann::json options;
    Given given = Given::label;
  };
  std::string name;
  std::set<std::string> takes;  // the traits that recipe/targets.h lists
  /// Between them they write each option.
  std::vector<Case> cases;
  bool takes_logarithms = false;  // outputs are logarithms of probabilities
};

const std::vector<TriedLoss>& tried_losses();

}  // namespace ddptrain
