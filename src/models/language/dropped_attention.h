// Causal attention with dropout of its weights, whose masks are functions of position.
#pragma once

#include "models/language/causal_attention.h"

namespace ddptrain {

/// query, key, value [rows, heads, time, features] to [rows, heads, time, features]. Weights are
/// computed, dropped and forgotten for 64 queries at a time, and once more in the backward pass:
/// queries 64 c and on, which see the first n keys, have the mask (models/operators/dropout_mask.h)
/// of a row [heads, queries, n] under mix(key, c).
at::Tensor dropped_attention(const AttentionHeads& heads, double scale,
                             const AttentionDropout& dropout);

}  // namespace ddptrain
