// Which rows of one file are its validation split.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "sources/split/split.h"

namespace ddptrain {

/// The rows of the validation split: a share of them, those that a column marks, a list (rows
/// count from 0 below the header), or one fold of several.
struct ValidRows {
  std::optional<double> fraction = 0.2;
  std::optional<std::string> column;
  std::vector<std::int64_t> rows;
  std::optional<FoldSpec> fold;
  std::int64_t seed = 42;
  SplitRule order = SplitRule::philox;
  void fields(Fields& f);
};

}  // namespace ddptrain
