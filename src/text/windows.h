// The pieces into which a text that is too long is cut.
#pragma once

#include <cstddef>
#include <vector>

namespace ddptrain {

/// Tokens first .. last - 1 of a text.
struct TokenWindow {
  std::size_t first = 0, last = 0;
};

/// Where the first window begins: the others follow from there to the other end.
enum class WindowSide { start, end };

/// Windows of at most `most` tokens, of which each shares `stride`, fewer than `most`, with the one
/// before it; the last one ends where the text does (tokenizers' truncation with its overflow). A
/// text that is short enough is one window.
std::vector<TokenWindow> token_windows(std::size_t length, std::size_t most, std::size_t stride,
                                       WindowSide side);

}  // namespace ddptrain
