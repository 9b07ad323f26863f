#include "train/step/terms_record.h"

#include <ATen/ops/cat.h>

#include <cstring>

#include "base/error.h"

namespace ddptrain {

void TermsRecord::add(const std::vector<at::Tensor>& terms) {
  Coming added{{}, AsyncHostCopy(at::cat(terms))};
  for (const auto& each : terms) added.lengths.push_back(each.numel());
  write_last();
  last_ = std::move(added);
}

std::string TermsRecord::take() {
  write_last();
  return std::move(text_);
}

void TermsRecord::write_last() {
  if (!last_) return;
  const auto* values = last_->values.wait().const_data_ptr<double>();
  for (const auto length : last_->lengths) {
    append(text_, values, static_cast<std::size_t>(length));
    values += length;
  }
  last_.reset();
}

void append(std::string& record, const double* terms, std::size_t count) {
  const auto length = static_cast<double>(count);
  record.append(reinterpret_cast<const char*>(&length), sizeof length);
  record.append(reinterpret_cast<const char*>(terms), count * sizeof(double));
}

Metric::Terms take(const std::string& record, std::size_t& at) {
  double count = 0;
  DDP_CHECK(at + sizeof count <= record.size(), "evaluation terms end early");
  std::memcpy(&count, record.data() + at, sizeof count);
  Metric::Terms terms(static_cast<std::size_t>(count));
  std::memcpy(terms.data(), record.data() + at + sizeof count, terms.size() * sizeof(double));
  at += (1 + terms.size()) * sizeof(double);
  return terms;
}

}  // namespace ddptrain
