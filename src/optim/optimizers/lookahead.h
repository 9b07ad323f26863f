// Slow weights that follow another optimizer, alone and inside ranger.
#pragma once

#include "optim/optimizer.h"

namespace ddptrain {

/// Every `k` steps the slow weights move by `alpha` towards the fast ones, which are set to them.
struct LookaheadOptions {
  std::int64_t k = 6;
  double alpha = 0.5;
  void fields(Fields& f);
};

std::unique_ptr<Optimizer> make_lookahead(const LookaheadOptions& options,
                                          std::unique_ptr<Optimizer> inner);

}  // namespace ddptrain
