// The ranks of a group as writers of a checkpoint.
#pragma once

#include "checkpoint/saving/save.h"

namespace ddptrain {

class Group;

class GroupWriters final : public Writers {
 public:
  /// The group outlives it.
  explicit GroupWriters(Group& group) : group_(group) {}
  int rank() const override;
  std::vector<std::string> gather(const std::string& text) override;
  std::string broadcast(const std::string& text) override;

 private:
  Group& group_;
};

}  // namespace ddptrain
