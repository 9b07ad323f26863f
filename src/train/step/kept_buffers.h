// A model's buffers (statistics of batch norm), to undo forward passes that move them.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <vector>

#include "models/model.h"

namespace ddptrain {

/// Copies of all buffers as they were when it was made, or kept again in the same memory. The model
/// outlives it and keeps its tensors.
class KeptBuffers {
 public:
  explicit KeptBuffers(const Model& model);
  void keep();
  void put_back() const;

 private:
  struct Copies {
    std::vector<at::Tensor> live, kept;
  };
  std::map<at::ScalarType, Copies> copies_;  // which one kernel copies
};

}  // namespace ddptrain
