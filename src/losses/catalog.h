// The losses, one exported function each.
#pragma once

#include <memory>

#include "losses/loss.h"

namespace ddptrain {

Entry<Loss> bce_with_logits_loss();
Entry<Loss> cross_entropy_loss();
Entry<Loss> fastai_dice_loss();
Entry<Loss> fastai_label_smoothing_loss();
Entry<Loss> focal_loss();
Entry<Loss> huber_loss();
Entry<Loss> kl_div_loss();
Entry<Loss> l1_loss();
Entry<Loss> mse_loss();
Entry<Loss> nll_loss();
Entry<Loss> smooth_l1_loss();

}  // namespace ddptrain
