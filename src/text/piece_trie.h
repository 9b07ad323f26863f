// A set of pieces in which all that begin a text are found at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/merges.h"

namespace ddptrain {

class PieceTrie {
 public:
  /// Of a piece that is added twice the last number counts.
  void add(std::string_view piece, std::int32_t number);
  /// Calls `found(bytes, number)` with every piece that `text` begins with, the shortest first.
  template <class Found>
  void find(std::string_view text, Found found) const {
    std::int32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto next = edges_.find(node, static_cast<unsigned char>(text[i]));
      if (!next.exists()) return;
      node = next.joined;
      if (const auto number = numbers_[static_cast<std::size_t>(node)]; number >= 0)
        found(i + 1, number);
    }
  }

 private:
  Merges edges_;                              // a node and a byte make a node
  std::vector<std::int32_t> numbers_ = {-1};  // of the piece that ends at a node; -1: none
};

}  // namespace ddptrain
