// The logs of a run, as its recipe wants them.
#pragma once

#include <string>

#include "callbacks/callback.h"

namespace ddptrain {

struct Training;

/// Status line, metrics.csv, tables, events.jsonl and TensorBoard's file in a run folder; for rank
/// 0.
Callbacks make_writers(const Training& training, const std::string& folder);

}  // namespace ddptrain
