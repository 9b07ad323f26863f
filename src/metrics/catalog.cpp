// The metrics.
#include "metrics/metric.h"

namespace ddptrain {

Entry<Metric> accuracy_metric();
Entry<Metric> accuracy_multi_metric();
Entry<Metric> average_precision_binary_metric();
Entry<Metric> average_precision_multi_metric();
Entry<Metric> balanced_accuracy_metric();
Entry<Metric> bits_per_byte_metric();
Entry<Metric> cohen_kappa_metric();
Entry<Metric> confusion_matrix_metric();
Entry<Metric> dice_metric();
Entry<Metric> dice_multi_metric();
Entry<Metric> error_rate_metric();
Entry<Metric> exp_rmspe_metric();
Entry<Metric> explained_variance_metric();
Entry<Metric> f1_metric();
Entry<Metric> f1_multi_metric();
Entry<Metric> fbeta_metric();
Entry<Metric> fbeta_multi_metric();
Entry<Metric> foreground_accuracy_metric();
Entry<Metric> hamming_loss_metric();
Entry<Metric> hamming_loss_multi_metric();
Entry<Metric> jaccard_coeff_metric();
Entry<Metric> jaccard_coeff_multi_metric();
Entry<Metric> jaccard_metric();
Entry<Metric> jaccard_multi_metric();
Entry<Metric> loss_metric();
Entry<Metric> mae_metric();
Entry<Metric> mcc_metric();
Entry<Metric> mse_metric();
Entry<Metric> msle_metric();
Entry<Metric> next_token_accuracy_metric();
Entry<Metric> pearson_metric();
Entry<Metric> per_class_accuracy_metric();
Entry<Metric> per_class_iou_metric();
Entry<Metric> perplexity_metric();
Entry<Metric> point_distance_metric();
Entry<Metric> precision_metric();
Entry<Metric> precision_multi_metric();
Entry<Metric> r2_metric();
Entry<Metric> recall_metric();
Entry<Metric> recall_multi_metric();
Entry<Metric> rmse_metric();
Entry<Metric> roc_auc_binary_metric();
Entry<Metric> roc_auc_metric();
Entry<Metric> roc_auc_multi_metric();
Entry<Metric> spearman_metric();
Entry<Metric> top_k_metric();

namespace {

Entry<Metric> (*const kMetrics[])() = {
    accuracy_metric,
    accuracy_multi_metric,
    average_precision_binary_metric,
    average_precision_multi_metric,
    balanced_accuracy_metric,
    bits_per_byte_metric,
    cohen_kappa_metric,
    confusion_matrix_metric,
    dice_metric,
    dice_multi_metric,
    error_rate_metric,
    exp_rmspe_metric,
    explained_variance_metric,
    f1_metric,
    f1_multi_metric,
    fbeta_metric,
    fbeta_multi_metric,
    foreground_accuracy_metric,
    hamming_loss_metric,
    hamming_loss_multi_metric,
    jaccard_metric,
    jaccard_coeff_metric,
    jaccard_coeff_multi_metric,
    jaccard_multi_metric,
    loss_metric,
    mae_metric,
    mcc_metric,
    mse_metric,
    msle_metric,
    next_token_accuracy_metric,
    pearson_metric,
    per_class_accuracy_metric,
    per_class_iou_metric,
    perplexity_metric,
    point_distance_metric,
    precision_metric,
    precision_multi_metric,
    r2_metric,
    recall_metric,
    recall_multi_metric,
    rmse_metric,
    roc_auc_metric,
    roc_auc_binary_metric,
    roc_auc_multi_metric,
    spearman_metric,
    top_k_metric,
};

}  // namespace

template <>
const Catalog<Metric>& catalog<Metric>() {
  static const Catalog<Metric> metrics([] {
    std::vector<Entry<Metric>> entries;
    for (const auto make : kMetrics) entries.push_back(make());
    return entries;
  }());
  return metrics;
}

}  // namespace ddptrain
