#include "data/loader/tolerant.h"

#include "base/error.h"

namespace ddptrain {

bool Tolerant::load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
                    std::int64_t row) const {
  try {
    return inner_->load(split, index, draw, batch, row);
  } catch (const Error& error) {
    if (error.code() != Exit::data) throw;
    for (auto& tensor : batch.inputs) tensor.select(0, row).zero_();
    const std::lock_guard lock(mutex_);
    errors_.emplace(index, error.what());
    return true;
  }
}

std::string Tolerant::take_error(std::int64_t index) const {
  const std::lock_guard lock(mutex_);
  const auto found = errors_.extract(index);
  return found.empty() ? std::string() : found.mapped();
}

}  // namespace ddptrain
