#include "text/windows.h"

#include <algorithm>

#include "base/error.h"

namespace ddptrain {

std::vector<TokenWindow> token_windows(std::size_t length, std::size_t most, std::size_t stride,
                                       WindowSide side) {
  DDP_CHECK(stride < most, "windows move on");
  std::vector<TokenWindow> windows;
  for (std::size_t first = 0;; first += most - stride) {
    windows.push_back({first, std::min(first + most, length)});
    if (windows.back().last == length) break;
  }
  if (side == WindowSide::end)
    for (auto& window : windows) window = {length - window.last, length - window.first};
  return windows;
}

}  // namespace ddptrain
