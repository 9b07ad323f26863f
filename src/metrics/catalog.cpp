#include "metrics/catalog.h"

namespace ddptrain {

template <>
const Catalog<Metric>& catalog<Metric>() {
  static const Catalog<Metric> metrics({
      accuracy_metric(),
      accuracy_multi_metric(),
      average_precision_binary_metric(),
      average_precision_multi_metric(),
      balanced_accuracy_metric(),
      cohen_kappa_metric(),
      confusion_matrix_metric(),
      dice_metric(),
      dice_multi_metric(),
      error_rate_metric(),
      exp_rmspe_metric(),
      explained_variance_metric(),
      f1_metric(),
      f1_multi_metric(),
      fbeta_metric(),
      fbeta_multi_metric(),
      foreground_accuracy_metric(),
      hamming_loss_metric(),
      hamming_loss_multi_metric(),
      jaccard_metric(),
      jaccard_coeff_metric(),
      jaccard_coeff_multi_metric(),
      jaccard_multi_metric(),
      loss_metric(),
      mae_metric(),
      mcc_metric(),
      mse_metric(),
      msle_metric(),
      pearson_metric(),
      per_class_accuracy_metric(),
      perplexity_metric(),
      precision_metric(),
      precision_multi_metric(),
      r2_metric(),
      recall_metric(),
      recall_multi_metric(),
      rmse_metric(),
      roc_auc_metric(),
      roc_auc_binary_metric(),
      roc_auc_multi_metric(),
      spearman_metric(),
      top_k_metric(),
  });
  return metrics;
}

}  // namespace ddptrain
