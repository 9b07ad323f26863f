#include "train/loop/group_writers.h"

#include "distributed/group.h"

namespace ddptrain {

int GroupWriters::rank() const { return group_.rank(); }

std::vector<std::string> GroupWriters::gather(const std::string& text) {
  return gather_text(group_, text);
}

std::string GroupWriters::broadcast(const std::string& text) {
  return broadcast_text(group_, text, 0);
}

}  // namespace ddptrain
