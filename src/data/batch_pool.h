// Batches whose memory is used again once nobody else holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "data/batch.h"

namespace ddptrain {

class BatchPool {
 public:
  using Allocate = std::function<Batch(std::int64_t rows)>;
  BatchPool(std::size_t capacity, Allocate allocate)
      : capacity_(capacity), allocate_(std::move(allocate)) {}

  /// A batch with `rows` rows whose contents are not defined.
  Batch take(std::int64_t rows);

 private:
  std::size_t capacity_;
  Allocate allocate_;
  std::vector<Batch> lent_;  // some still in use
};

}  // namespace ddptrain
