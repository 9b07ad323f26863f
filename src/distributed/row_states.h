// What the rows of a global batch carry from batch to batch: the states behind Pass::carried.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/carried.h"
#include "models/module.h"

namespace ddptrain {

class Group;

/// States of the rows that this process has, by their places in the global batch, which is cut in
/// the same way at every step. From several threads, for different rows.
class RowStates {
 public:
  /// Streams begin: no row has a state.
  void clear();
  /// Rows of the global batch that a pass has, on its device.
  struct Rows {
    std::int64_t first = 0;
    std::int64_t count = 0;
    at::Device device = at::kCPU;
  };
  /// Must not outlive this.
  std::unique_ptr<Carried> of(const Rows& rows);

  /// Notes the states as they are, before a step.
  void keep();
  /// They are as they were then again: the step was not made.
  void put_back();

  /// The states of all rows of the global batch, [rows, ...] by name, on the CPU; empty where no
  /// row has one. All ranks call it together and get the same.
  std::vector<NamedTensor> gather(Group& group) const;
  /// What gather() gave, on any number of ranks, to be cut in any way.
  void load(const std::vector<NamedTensor>& states);

 private:
  class View;
  using States = std::map<std::string, at::Tensor>;
  at::Tensor get(const std::string& name, const Rows& rows) const;
  void set(const std::string& name, const Rows& rows, at::Tensor values);

  mutable std::mutex mutex_;
  std::map<std::int64_t, States> pieces_;  // by their first rows
  std::map<std::int64_t, States> kept_;
  States loaded_;  // of all rows, until pieces take their places
};

}  // namespace ddptrain
