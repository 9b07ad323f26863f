// Which token follows: a model's scores to probabilities, filtered as transformers' generate()
// filters them, and the draw.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recipe/sampling_options.h"

namespace ddptrain {

/// Penalties: scores of tokens that must not follow become -inf. Those of `before` (prompt and
/// text so far) are divided by the repetition penalty where they are positive and multiplied where
/// they are negative (Keskar et al. 2019). With no_repeat_ngram n no run of n tokens occurs twice.
void penalize(std::vector<double>& scores, std::span<const std::int64_t> before,
              const SamplingOptions& options);

/// The probability of each token: penalties, temperature, then top_k, top_p, min_p and typical_p,
/// each of what the one before kept. Tokens tied with the k-th stay; of equal tokens at the limit
/// of top_p the last ones stay. At least one token stays. The temperature is above 0, and at least
/// one score finite or inf after the penalties.
std::vector<double> probabilities(std::vector<double> scores, std::span<const std::int64_t> before,
                                  const SamplingOptions& options);

/// The token at `uniform`, in [0, 1), of the cumulative probabilities, which need not sum to 1.
std::int64_t draw(std::span<const double> probabilities, double uniform);

/// The uniform number for a place of a sequence: the token after `place` others. Independent of all
/// other sequences and places.
double uniform_at(std::uint64_t seed, std::uint64_t sequence, std::int64_t place);

/// The token that follows `before` in a sequence. An Error (Exit::non_finite) where a score is NaN
/// or inf, one (Exit::recipe) where no token may follow.
std::int64_t next_token(std::vector<double> scores, std::span<const std::int64_t> before,
                        const SamplingOptions& options, double uniform);

}  // namespace ddptrain
