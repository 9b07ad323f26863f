#include "data/loader/bad_samples.h"

#include <algorithm>

#include "base/error.h"
#include "base/output/table_text.h"
#include "base/text.h"

namespace ddptrain {

bool SkippingDataset::load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
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

std::string SkippingDataset::take_error(std::int64_t index) const {
  const std::lock_guard lock(mutex_);
  const auto found = errors_.extract(index);
  return found.empty() ? std::string() : found.mapped();
}

void require_few_bad(const PolicySpec& policy, std::int64_t bad, std::int64_t samples,
                     const std::string& which) {
  const double allowed = policy.bad_samples.value * static_cast<double>(samples);
  if (static_cast<double>(bad) <= std::max(allowed, 1.0)) return;
  throw Error(Exit::data,
              "{} of {} {} could not be read, more than policy.bad_samples allows ({} %)", bad,
              samples, which, short_number(100 * policy.bad_samples.value));
}

}  // namespace ddptrain
