// Accelerate's collectives (accelerate.utils.operations) over a group, with its meaning.
#pragma once

#include "distributed/group.h"

namespace ddptrain {

/// Rows of all members in rank order; a number counts as one row. Same shape on every member.
at::Tensor gather_rows(Group& group, const at::Tensor& tensor);

enum class Reduction { sum, mean };
/// A new tensor: the sum over members, or that divided by their number.
at::Tensor reduce(Group& group, const at::Tensor& tensor, Reduction reduction);

struct Padding {
  enum class Side { end, start };
  std::int64_t dim = 0;
  double fill = 0;
  Side side = Side::end;
};
/// Extends `dim` to the longest of all members. A tensor without that dimension is returned as it
/// is.
at::Tensor pad_across(Group& group, const at::Tensor& tensor, const Padding& padding = {});

}  // namespace ddptrain
