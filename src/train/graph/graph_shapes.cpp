#include "train/graph/graph_shapes.h"

#include <algorithm>

namespace ddptrain {

int GraphShapes::count(const Shape& shape) {
  const auto found =
      std::ranges::find_if(recent_, [&](const auto& entry) { return entry.first == shape; });
  if (found == recent_.end())
    recent_.emplace_front(shape, 0);
  else
    recent_.splice(recent_.begin(), recent_, found);
  if (recent_.size() > kCounted) recent_.pop_back();
  return ++recent_.front().second;
}

void GraphShapes::lose(const Shape& shape) {
  constexpr int kMost = 1 << 20;
  std::erase_if(recent_, [&](const auto& entry) { return entry.first == shape; });
  patience_ = std::min(2 * patience_, kMost);
}

}  // namespace ddptrain
