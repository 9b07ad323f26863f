// Terms of the batches of an evaluation as one text, which ranks exchange.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "metrics/metric.h"
#include "train/step/async_host_copy.h"

namespace ddptrain {

/// Batch after batch the terms of each metric, each with its length before it. Terms of a device
/// travel while it computes the next batch, and are read then.
class TermsRecord {
 public:
  /// Of one batch: double [n] each, on one device.
  void add(const std::vector<at::Tensor>& terms);
  /// All that was added.
  std::string take();

 private:
  struct Coming {
    std::vector<std::int64_t> lengths;
    AsyncHostCopy values;  // one after the other
  };
  void write_last();

  std::optional<Coming> last_;
  std::string text_;
};

void append(std::string& record, const double* terms, std::size_t count);
/// The terms that begin at `at`, which is moved behind them.
Metric::Terms take(const std::string& record, std::size_t& at);

}  // namespace ddptrain
