#include "data/loader/batch_pool.h"

#include <algorithm>

namespace ddptrain {
namespace {

// Views share the storage but not the tensor, so both counts matter. Only our own copy is left at
// one, and no other can be made from it.
bool free(const std::vector<at::Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
    return tensor.use_count() == 1 && tensor.storage().use_count() == 1;
  });
}

bool free(const Batch& batch) { return free(batch.inputs) && free(batch.targets); }

}  // namespace

Batch BatchPool::acquire(std::int64_t rows, std::int64_t length) {
  for (const auto& lent : lent_)
    if (lent.batch.rows == rows && lent.length == length && free(lent.batch)) return lent.batch;
  auto fresh = allocate_(rows, length);
  fresh.rows = rows;
  // Forgets other sizes first, then what is in use for longest.
  if (lent_.size() == capacity_)
    std::erase_if(lent_, [](const Lent& lent) { return free(lent.batch); });
  if (lent_.size() == capacity_) lent_.erase(lent_.begin());
  lent_.push_back({fresh, length});
  return fresh;
}

}  // namespace ddptrain
