// Sizes of a trace that follow the batch.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace ddptrain {

/// A trace of a pass over so many rows, of so many tokens each where the model reads texts.
using RecordSizes =
    std::function<std::shared_ptr<torch::jit::Graph>(std::int64_t rows, std::int64_t tokens)>;

struct DynamicSizes {
  std::int64_t rows = 0;  // fixed; 0: any
  bool tokens = false;    // any; else the model knows no tokens
};

/// A graph for every size that `sizes` leaves open. Several traces are recorded; their graphs must
/// be alike, and an integer c in them must be c0 + c1 rows + c2 tokens + c3 rows tokens, which one
/// more trace confirms; it is computed from the first input's size then. An Error (Exit::recipe)
/// that names the operator where that does not hold.
std::shared_ptr<torch::jit::Graph> with_dynamic_sizes(const RecordSizes& record,
                                                      const DynamicSizes& sizes);

}  // namespace ddptrain
