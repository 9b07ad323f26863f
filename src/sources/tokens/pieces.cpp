#include "sources/tokens/pieces.h"

#include <algorithm>

#include "base/error.h"

namespace ddptrain {

JoinedDocuments::JoinedDocuments(std::span<const std::int64_t> lengths,
                                 std::span<const std::int64_t> order) {
  for (const auto document : order) add(document, lengths[static_cast<std::size_t>(document)]);
}

JoinedDocuments::JoinedDocuments(std::span<const std::int64_t> lengths) {
  for (std::size_t i = 0; i < lengths.size(); ++i) add(static_cast<std::int64_t>(i), lengths[i]);
}

void JoinedDocuments::add(std::int64_t document, std::int64_t length) {
  if (length == 0) return;
  documents_.push_back(document);
  ends_.push_back(tokens() + length);
}

std::vector<Piece> JoinedDocuments::pieces(std::int64_t first, std::int64_t count) const {
  DDP_CHECK(first >= 0 && count >= 0 && first + count <= tokens(), "tokens of the text");
  std::vector<Piece> found;
  auto at =
      static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin());
  for (; count > 0; ++at) {
    const auto begin = at == 0 ? 0 : ends_[at - 1];
    const auto length = std::min(count, ends_[at] - first);
    found.push_back({documents_[at], first - begin, length});
    first += length;
    count -= length;
  }
  return found;
}

}  // namespace ddptrain
