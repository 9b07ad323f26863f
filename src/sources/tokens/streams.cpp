#include "sources/tokens/streams.h"

#include <algorithm>

#include "base/error.h"

namespace ddptrain {

Streams::Streams(std::int64_t tokens, std::int64_t rows, std::int64_t length)
    : rows_(rows), length_(length) {
  DDP_CHECK(rows > 0 && length > 0, "streams have rows and pieces");
  const auto targets = std::max<std::int64_t>(0, tokens - 1);
  row_tokens_ = targets / rows;
  pieces_ = (row_tokens_ + length - 1) / length;
  left_out_ = targets - row_tokens_ * rows;
}

std::int64_t Streams::length(std::int64_t sample) const {
  return std::min(length_, row_tokens_ - sample / rows_ * length_);
}

std::int64_t Streams::first(std::int64_t sample) const {
  return sample % rows_ * row_tokens_ + sample / rows_ * length_;
}

}  // namespace ddptrain
