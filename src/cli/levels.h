// How deep `validate` looks.
#pragma once

#include <string>

#include "base/error.h"
#include "recipe/load/load.h"

namespace ddptrain {

/// rules: the recipe alone. data: what it names is there and can be read. model: one batch forward,
/// loss and backward on the CPU. step: one optimizer step on the devices, one evaluation batch, one
/// checkpoint written and read. Each looks at what those before it do, too.
enum class Level { rules, data, model, step };

/// What the levels above `rules` found.
struct Findings {
  Problems problems;
  Exit code = Exit::done;            // of the first error
  std::vector<std::string> reports;  // a line for each level that was passed
};

}  // namespace ddptrain
