// Arithmetic over rows of scores for the tokens of a vocabulary; one operator each on every device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ddptrain {

/// What is computed of scores [n, width], of which the first `vocabulary` count.
struct VocabularyTerms {
  std::int64_t vocabulary = 0;
  double label_smoothing = 0;  // share of the target that is spread over the vocabulary
  double z_loss = 0;           // times the square of the normalizer is added
  double soft_cap = 0;         // c > 0: c * tanh(score / c) takes the place of a score
};

/// [n] each, in fp32 at least. Normalizer: the logarithm of the sum of exponentials.
struct VocabularyValues {
  at::Tensor values, normalizers;
};

/// labels int64 [n], each a token of the vocabulary. values: normalizer - score of the label; with
/// label smoothing e, (1 - e) of that and e of normalizer - mean of all scores; and the z loss.
VocabularyValues vocabulary_values(const at::Tensor& scores, const at::Tensor& labels,
                                   const VocabularyTerms& terms);

/// `scores` become what their values times `each` [n] have as gradients with respect to them, 0
/// beyond the vocabulary.
void vocabulary_slopes_(at::Tensor& scores, const at::Tensor& labels, const at::Tensor& normalizers,
                        const at::Tensor& each, const VocabularyTerms& terms);

}  // namespace ddptrain
