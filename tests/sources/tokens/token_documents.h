// Token documents in memory.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sources/tokens/token_source.h"

namespace ddptrain {

class TokenDocuments final : public TokenSource {
 public:
  explicit TokenDocuments(std::vector<std::vector<std::int64_t>> documents)
      : documents_(std::move(documents)) {}
  std::int64_t documents() const override { return std::ssize(documents_); }
  std::int64_t length(std::int64_t document) const override {
    return std::ssize(documents_.at(static_cast<std::size_t>(document)));
  }
  void copy(const Piece& piece, std::span<std::int64_t> ids) const override {
    const auto& all = documents_.at(static_cast<std::size_t>(piece.document));
    std::copy_n(all.begin() + piece.first, piece.length, ids.begin());
  }
  std::string name(std::int64_t document) const override {
    return "document " + std::to_string(document);
  }

 private:
  std::vector<std::vector<std::int64_t>> documents_;
};

}  // namespace ddptrain
