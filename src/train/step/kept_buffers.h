// A model's buffers (statistics of batch norm), to undo forward passes that move them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <vector>

#include "models/model.h"

namespace ddptrain {

struct World;

/// Whether a step of so many micro-batches may find that data are lost after a pass moved buffers
/// of this rank that a checkpoint keeps. Nothing has before the only micro-batch of a single rank.
bool may_lose_data_midway(const World& world, std::int64_t micro_steps);

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
