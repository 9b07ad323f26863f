// Batches whose memory is reused once no other reference holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "data/batch.h"

namespace ddptrain {

class BatchPool {
 public:
  using Allocate = std::function<Batch(std::int64_t rows, std::int64_t length)>;
  BatchPool(std::size_t capacity, Allocate allocate)
      : capacity_(capacity), allocate_(std::move(allocate)) {}

  /// A batch with `rows` rows of `length` (Dataset::allocate) whose contents are not defined.
  Batch acquire(std::int64_t rows, std::int64_t length);

 private:
  std::size_t capacity_;
  Allocate allocate_;
  struct Lent {
    Batch batch;
    std::int64_t length;
  };
  std::vector<Lent> lent_;  // some still in use
};

}  // namespace ddptrain
