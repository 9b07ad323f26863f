// Other tensors in the place of a model's own.
#pragma once

#include <vector>

#include "models/module.h"

namespace ddptrain {

/// Lends tensors of the same names to live ones while it lives; names that are not lent stay.
class Swapped {
 public:
  Swapped(std::vector<NamedTensor> live, const std::vector<NamedTensor>& lent);
  ~Swapped();
  Swapped(const Swapped&) = delete;
  Swapped& operator=(const Swapped&) = delete;

 private:
  std::vector<at::Tensor> live_, kept_;
};

}  // namespace ddptrain
