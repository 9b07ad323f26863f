// Which parameters received a gradient, on this rank and on any.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "distributed/window_numbers.h"

namespace ddptrain {

/// What ddp's options say of parameters that a step does not use.
struct UnusedRules {
  bool find_unused_parameters = false;
  bool static_graph = false;
};

/// Behind the numbers of every engine, summed over ranks: ranks that had rows in the window, and
/// those on which each parameter received a gradient, one number each.
class UsedParameters {
 public:
  explicit UsedParameters(const UnusedRules& rules) : rules_(rules) {}

  /// Names of those that train from now on.
  void set_trained(std::vector<std::string> names);
  /// What the host adds to the sums of a window: counted(), then the numbers above.
  std::vector<double> numbers(const HostCounts& counts, bool asked, const std::vector<bool>& used,
                              bool saw_rows) const;
  /// What was used here was used anywhere; a rank that lacks some waits to see what the others did.
  std::vector<bool> anywhere(const std::vector<bool>& here, const at::Tensor& sums);
  /// An Error (Exit::recipe) that names those without a gradient on some rank. Every rank sees the
  /// same sums, so all of them throw.
  void require_all(const at::Tensor& sums) const;

 private:
  void require_the_same(const std::vector<bool>& used);

  UnusedRules rules_;
  std::vector<std::string> names_;
  std::vector<bool> first_used_;
};

}  // namespace ddptrain
