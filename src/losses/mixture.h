// Losses of rows that are mixtures of two samples.
#pragma once

#include <vector>

#include "losses/loss.h"

namespace ddptrain {

/// Terms of a batch: of its one target, or where rows are mixtures and targets are {own, partner's,
/// share of the own [rows]}, loss(output, own) * share + loss(output, partner's) * (1 - share),
/// values and weights alike (Zhang et al., 2018; fastai.callback.mixup).
LossTerms loss_of(const Loss& loss, const at::Tensor& output,
                  const std::vector<at::Tensor>& targets);

}  // namespace ddptrain
