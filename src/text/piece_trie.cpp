#include "text/piece_trie.h"

namespace ddptrain {

void PieceTrie::add(std::string_view piece, std::int32_t number) {
  std::int32_t node = 0;
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    auto next = edges_.find(node, byte);
    if (!next.exists()) {
      next.joined = static_cast<std::int32_t>(numbers_.size());
      numbers_.push_back(-1);
      edges_.add(node, byte, next);
    }
    node = next.joined;
  }
  numbers_[static_cast<std::size_t>(node)] = number;
}

}  // namespace ddptrain
