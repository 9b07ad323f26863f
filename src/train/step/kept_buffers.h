// A model's buffers (statistics of batch norm), to undo forward passes that move them.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <vector>

#include "models/model.h"

namespace ddptrain {

/// A copy of all buffers as they are when it is made, in one tensor of each type. The model
/// outlives it and keeps its tensors.
class KeptBuffers {
 public:
  explicit KeptBuffers(const Model& model);
  void put_back();

 private:
  std::map<at::ScalarType, std::vector<at::Tensor>> live_;
  std::map<at::ScalarType, at::Tensor> kept_;
};

}  // namespace ddptrain
