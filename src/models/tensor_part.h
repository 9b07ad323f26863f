// What one rank has of a tensor that ranks may have in parts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/module.h"

namespace ddptrain {

/// Elements of a tensor, one after another in row-major order. What a file needs to know of the
/// whole is the same on every rank that has a part of it.
struct TensorPart {
  std::string name;
  std::vector<std::int64_t> shape;  // of the whole
  std::int64_t first = 0;           // of these elements, among those of the whole
  at::Tensor elements;              // as many as this rank has, in any shape; they are live
  std::int64_t place = 0;           // of the tensor in its file: rises from one to the next
};

/// Places for tensors of state, "<parameter>" or "<parameter>.<what>": those of a parameter behind
/// those of the one before it, what belongs to none behind all. They are the same for everyone who
/// has the same kinds of state of a parameter, whatever the others are of.
class StatePlaces {
 public:
  explicit StatePlaces(const std::vector<NamedTensor>& parameters);
  std::int64_t next(const std::string& name);

 private:
  std::unordered_map<std::string, std::int64_t> order_;
  std::unordered_map<std::int64_t, std::int64_t> given_;  // of each parameter
};

}  // namespace ddptrain
