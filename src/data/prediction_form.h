// How `predict` writes what a model says of samples, where that is no class.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "data/image_place.h"

namespace ddptrain {

struct PredictedSample {
  ImagePlace place;    // where its target lies in its image; else all 0
  std::string folder;  // where files of predictions go
  std::string name;    // of its own in there, without an extension
};

class PredictionForm {
 public:
  virtual ~PredictionForm() = default;
  /// Titles of its columns in a CSV file.
  virtual std::vector<std::string> columns() const = 0;
  /// A cell for each column, or the name of a file that is written, from predictions
  /// (losses/loss.h) for one sample, on the CPU in double.
  virtual std::vector<std::string> cells(const at::Tensor& output,
                                         const PredictedSample& sample) const = 0;
};

}  // namespace ddptrain
