// What a rank counts of the micro-batches of a step, where ranks sum them.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "distributed/used_parameters.h"
#include "distributed/window_numbers.h"

namespace ddptrain {

class RankWindow {
 public:
  explicit RankWindow(const UnusedRules& rules) : used_(rules) {}

  /// Names of the parameters that train from now on.
  void set_trained(std::vector<std::string> names) { used_.set_trained(std::move(names)); }
  void begin();
  void add(const Batch& batch, const MicroStep& at);
  /// The passes of a window were repeated by a graph, on rows of this rank.
  void repeat();

  /// Of parameters that received a gradient, those that did from rows of this rank.
  std::vector<bool> used(std::vector<bool> received) const;
  /// What ranks sum: a replica's own sums, and behind them what the host counted, on their device.
  at::Tensor numbers(const at::Tensor& own, const std::vector<bool>& used, bool asked);
  /// Brings what the host counted to the device, for a graph that reads it there.
  const at::Tensor& upload(at::Device device, const std::vector<bool>& used, bool asked);
  /// Of the sums over ranks: which parameters are used on any.
  std::vector<bool> anywhere(const std::vector<bool>& used, const at::Tensor& sums) {
    return used_.anywhere(used, sums);
  }
  /// On the host. An Error (Exit::recipe) where parameters are unused that must not be.
  StepTotals totals(const at::Tensor& sums) const;

 private:
  UsedParameters used_;
  bool saw_rows_ = false;
  HostCounts counts_;
  HostNumbers host_;
};

}  // namespace ddptrain
