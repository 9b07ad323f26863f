// How the next token of a text is chosen.
#pragma once

#include <cstdint>

#include "config/fields.h"

namespace ddptrain {

/// What generation/sampling.h computes with; the flags of `generate` and eval.samples have these
/// names.
struct SamplingOptions {
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double typical_p = 1;
  double repetition_penalty = 1;
  std::int64_t no_repeat_ngram = 0;
  void fields(Fields& f);

  bool greedy() const { return temperature == 0; }
};

}  // namespace ddptrain
