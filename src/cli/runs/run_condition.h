// What `runs --where` asks of a run.
#pragma once

#include <string>
#include <vector>

#include "cli/runs/run_row.h"

namespace ddptrain {

struct RunCondition {
  enum class Relation { equal, unequal, less, at_most, more, at_least };
  std::string column;
  Relation relation = Relation::equal;
  std::string value;
};

/// "state=done,optimizer.lr>=1e-3". An Error (Exit::recipe) where a part has no comparison.
std::vector<RunCondition> read_conditions(const std::string& text);

/// Two numbers are compared as numbers, "1e-3" equals "0.001"; texts only for being equal. A row
/// that has nothing there holds for `!=` alone.
bool holds(const RunCondition& condition, const RunCell& cell);

}  // namespace ddptrain
