// The logs of a run, as its recipe wants them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "callbacks/callback.h"

namespace ddptrain {

struct Training;

/// Status line, metrics.csv, tables, events.jsonl and TensorBoard's file in a run folder; for rank
/// 0.
std::vector<std::unique_ptr<Callback>> make_writers(const Training& training,
                                                    const std::string& folder);

}  // namespace ddptrain
