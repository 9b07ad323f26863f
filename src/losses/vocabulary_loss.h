// Cross-entropy of scores for each token of a vocabulary that never exist whole: forward and
// backward go over a chunk of places at a time (Liger's fused linear cross-entropy, TRL's
// chunked_nll).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "losses/loss.h"

namespace ddptrain {

/// Each chunk reads the whole weight and adds to all of its gradient, so it is to have hundreds of
/// places.
inline constexpr std::int64_t kScoresOfAChunk = 1 << 25;
/// On a device, which computes many more at a time: 2 GiB in half precision.
inline constexpr std::int64_t kScoresOnADevice = std::int64_t{1} << 30;

struct VocabularyLossOptions {
  double label_smoothing = 0;  // share of the target that is spread over the vocabulary
  double z_loss = 0;           // times the square of the logarithm of the normalizer is added
  std::int64_t at_once =
      0;  // places; 0: as many as have kScoresOfAChunk or kScoresOnADevice scores
};

/// hidden [n, width], labels int64 [n], each a token of the vocabulary; values [n], in the graph:
/// -log softmax(scores)[label]. In fp32 at least. On the CPU the gradients are computed along with
/// the values and scaled by the backward pass, where all values have the same gradient. On a device
/// the backward pass makes them of the scores, where one chunk has all. Otherwise it computes the
/// scores again.
at::Tensor vocabulary_loss(const ProjectedOutput& output, const at::Tensor& labels,
                           const VocabularyLossOptions& options);

}  // namespace ddptrain
