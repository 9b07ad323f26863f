#include "losses/catalog.h"

namespace ddptrain {

template <>
const Catalog<Loss>& catalog<Loss>() {
  static const Catalog<Loss> losses({
      bce_with_logits_loss(),
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
