// The metrics, one exported function each.
#pragma once

#include <memory>

#include "metrics/metric.h"

namespace ddptrain {

Entry<Metric> accuracy_metric();
Entry<Metric> confusion_matrix_metric();
Entry<Metric> error_rate_metric();
Entry<Metric> loss_metric();
Entry<Metric> per_class_accuracy_metric();
Entry<Metric> top_k_metric();

}  // namespace ddptrain
