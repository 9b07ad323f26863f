// Pieces of documents, and documents that are joined to one text.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ddptrain {

/// Tokens first .. first + length - 1 of a document.
struct Piece {
  std::int64_t document = 0;
  std::int64_t first = 0;
  std::int64_t length = 0;
  bool operator==(const Piece&) const = default;
};

/// Documents one after the other; those without tokens are left out.
class JoinedDocuments {
 public:
  /// `lengths` of all documents, counted in tokens; `order` lists those that are joined.
  JoinedDocuments(std::span<const std::int64_t> lengths, std::span<const std::int64_t> order);
  /// All of them, in order.
  explicit JoinedDocuments(std::span<const std::int64_t> lengths);

  std::int64_t tokens() const { return ends_.empty() ? 0 : ends_.back(); }
  /// What tokens first .. first + count - 1 of the text are, in O(log documents + pieces).
  std::vector<Piece> pieces(std::int64_t first, std::int64_t count) const;

 private:
  void add(std::int64_t document, std::int64_t length);
  std::vector<std::int64_t> documents_;
  std::vector<std::int64_t> ends_;  // in the text
};

}  // namespace ddptrain
