// Terms of metrics for outputs that never exist whole: a score for each token of a vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "models/projection.h"

namespace ddptrain {

struct Training;

/// Metric::sums of each metric, over the places of `target` [rows, places] that have a label, a
/// chunk of them at a time. hidden [rows, places, width]. Metrics see them as rows: outputs [n,
/// classes] and targets [n].
std::vector<at::Tensor> projected_terms(const Training& training, const at::Tensor& hidden,
                                        const Projection& projection, const at::Tensor& target);

}  // namespace ddptrain
