// What the rows of a batch carry over to the same rows of the next one: hidden states of streams.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace ddptrain {

/// Named tensors with rows first, a row for each row of the pass, without a graph. Names are those
/// of a module's path, so that they are unique in a model.
class Carried {
 public:
  virtual ~Carried() = default;
  /// [rows, ...] as the batch before left it; undefined at the beginning of streams.
  virtual at::Tensor get(const std::string& name) const = 0;
  /// For the next batch. The tensor must not change afterwards.
  virtual void set(const std::string& name, at::Tensor rows) = 0;
};

}  // namespace ddptrain
