// Scores that do not depend on how many ranks computed them.
#pragma once

#include <functional>

#include "train/training.h"

namespace ddptrain {

/// Every metric on the validation split, "valid/accuracy" and so on; the same values on every rank,
/// to the last bit on any number of ranks (equal threads per rank). With an average of weights
/// its scores follow as "valid_ema/..." or "valid_swa/...", and with eval.tta those of test-time
/// augmentation as "valid_tta/...". All ranks call it together.
/// `alive` is called after every batch.
NamedValues evaluate(Training& training, const std::function<void()>& alive = {});

}  // namespace ddptrain
