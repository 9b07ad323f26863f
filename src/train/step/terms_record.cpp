#include "train/step/terms_record.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <utility>

#include "base/error.h"

namespace ddptrain {

void TermsRecord::add(const std::vector<at::Tensor>& terms) {
  Pending added{{}, AsyncHostCopy(at::cat(terms))};
  for (const auto& each : terms) added.lengths.push_back(each.numel());
  write_pending();
  pending_ = std::move(added);
}

at::Tensor TermsRecord::drain(std::int64_t left_out) {
  write_pending();
  auto numbers = std::exchange(numbers_, {});
  numbers.insert(numbers.begin(), static_cast<double>(left_out));
  return at::tensor(numbers, at::kDouble);
}

void TermsRecord::write_pending() {
  if (!pending_) return;
  const auto* values = pending_->values.wait().const_data_ptr<double>();
  for (const auto length : pending_->lengths) {
    numbers_.push_back(static_cast<double>(length));
    numbers_.insert(numbers_.end(), values, values + length);
    values += length;
  }
  pending_.reset();
}

TermsReader::TermsReader(const at::Tensor& record)
    : numbers_(record.const_data_ptr<double>(), record.const_data_ptr<double>() + record.numel()) {
  DDP_CHECK(!numbers_.empty(), "a record of terms begins with a count");
  left_out_ = static_cast<std::int64_t>(numbers_.front());
}

bool TermsReader::at_end() const { return next_ == numbers_.size(); }

Metric::Terms TermsReader::next() {
  DDP_CHECK(!at_end(), "evaluation terms end early");
  const auto length = static_cast<std::size_t>(numbers_[next_]);
  const auto first = next_ + 1;
  DDP_CHECK(length <= numbers_.size() - first, "evaluation terms end early");
  next_ = first + length;
  const auto at = [this](std::size_t i) {
    return numbers_.begin() + static_cast<std::ptrdiff_t>(i);
  };
  return {at(first), at(next_)};
}

}  // namespace ddptrain
