// Terms of the batches of an evaluation as doubles, which ranks exchange.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "distributed/async_host_copy.h"
#include "metrics/metric.h"

namespace ddptrain {

/// Batch after batch the terms of each metric. Terms of a device travel while it computes the next
/// batch, and are read then.
class TermsRecord {
 public:
  /// Of one batch: double [n] each, on one device.
  void add(const std::vector<at::Tensor>& terms);
  /// Double [n] for a TermsReader: `left_out` samples, then all that was added, each list with its
  /// length before it.
  at::Tensor drain(std::int64_t left_out);

 private:
  struct Pending {
    std::vector<std::int64_t> lengths;
    AsyncHostCopy values;  // one list after the other
  };
  void write_pending();

  std::optional<Pending> pending_;
  std::vector<double> numbers_;
};

/// Reads the record of a rank from its beginning.
class TermsReader {
 public:
  explicit TermsReader(const at::Tensor& record);
  std::int64_t left_out() const { return left_out_; }
  bool at_end() const;
  /// The terms of the next metric.
  Metric::Terms next();

 private:
  std::vector<double> numbers_;
  std::int64_t left_out_ = 0;
  std::size_t next_ = 1;
};

}  // namespace ddptrain
