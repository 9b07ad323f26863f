#include "metrics/catalog.h"

namespace ddptrain {

template <>
const Catalog<Metric>& catalog<Metric>() {
  static const Catalog<Metric> metrics({
      accuracy_metric(),
      confusion_matrix_metric(),
      error_rate_metric(),
      loss_metric(),
      per_class_accuracy_metric(),
      top_k_metric(),
  });
  return metrics;
}

}  // namespace ddptrain
