// Numbers of samples under the names that people gave them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "data/prediction_form.h"

namespace ddptrain {

struct Preview;

/// One number a sample, or several; NaN: missing.
class NumberColumns final : public PredictionForm {
 public:
  explicit NumberColumns(std::vector<std::string> names) : names_(std::move(names)) {}

  std::int64_t count() const { return static_cast<std::int64_t>(names_.size()); }
  /// Uninitialized targets: float32 [rows], or of several names [rows, names].
  at::Tensor allocate(std::int64_t rows) const;
  /// Adds the numbers of one sample to what a person sees.
  void show(const float* values, Preview& shown) const;

  std::vector<std::string> columns() const override { return names_; }
  std::vector<std::string> cells(const at::Tensor& output, const PredictedSample&) const override;

 private:
  std::vector<std::string> names_;
};

}  // namespace ddptrain
