// Sizes of a trace that follow the batch. A trace records sizes as constants; the same pass is
// traced at several sizes, and what differs between the graphs is a function of the batch. Texts
// to 10 features a token, whose size after flatten(0, 1) is rows * tokens:
//
//   trace   rows  tokens   graph                                      constant
//   0        3     11      reshape(%x, [ 33, 10])                      33   10
//   1        5     11      reshape(%x, [ 55, 10])                      55   10
//   2        3     13      reshape(%x, [ 39, 10])                      39   10
//   3        5     13      reshape(%x, [ 65, 10])                      65   10
//   4        7     19      reshape(%x, [133, 10])                     133   10
//                                                                       |    |
//   solved from 0 to 3:  c0 + c1 rows + c2 tokens + c3 rows tokens      |    same: stays 10
//                         0    0         0           1                  v
//   confirmed by 4:      1 * 7 * 19 = 133             rows * tokens of the first input
//
//   result  %r = size(%input, 0)   %t = size(%input, 1)   %n = mul(%r, %t)
//           reshape(%x, [%n, 10])
//
// The graphs must have the same operators in the same order; a size that the formula does not
// reproduce at trace 4 is an error. Without tokens, rows 3 and 5 give c0 + c1 rows, confirmed at 7.
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
