#include "sources/tokens/token_source.h"

#include <algorithm>

namespace ddptrain {

std::int64_t DocumentReader::length(std::int64_t document) const {
  const auto length = source_->length(document);
  return length > 0 && end_ != kNoEnd ? length + 1 : length;
}

std::vector<std::int64_t> DocumentReader::lengths() const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(source_->documents()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = length(static_cast<std::int64_t>(i));
  return all;
}

void DocumentReader::copy(std::span<const Piece> pieces, std::span<std::int64_t> ids) const {
  for (const auto& piece : pieces) {
    const auto count = static_cast<std::size_t>(piece.length);
    copy(piece, ids.first(count));
    ids = ids.subspan(count);
  }
}

void DocumentReader::copy(const Piece& piece, std::span<std::int64_t> ids) const {
  auto inner = piece;
  const auto own = source_->length(piece.document);
  if (piece.first + piece.length > own) {
    ids.back() = end_;
    ids = ids.first(ids.size() - 1);
    --inner.length;
  }
  if (backwards_) inner.first = own - inner.first - inner.length;
  source_->copy(inner, ids);
  if (backwards_) std::reverse(ids.begin(), ids.end());
}

}  // namespace ddptrain
