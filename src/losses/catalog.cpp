// The losses.
#include "losses/loss.h"

namespace ddptrain {

Entry<Loss> bce_with_logits_loss();
Entry<Loss> combined_loss();
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

template <>
const Catalog<Loss>& catalog<Loss>() {
  static const Catalog<Loss> losses({
      bce_with_logits_loss(),
      combined_loss(),
      cross_entropy_loss(),
      fastai_dice_loss(),
      fastai_label_smoothing_loss(),
      focal_loss(),
      huber_loss(),
      kl_div_loss(),
      l1_loss(),
      mse_loss(),
      nll_loss(),
      smooth_l1_loss(),
  });
  return losses;
}

}  // namespace ddptrain
