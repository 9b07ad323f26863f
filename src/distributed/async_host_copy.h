// Values of a device on the way to the host.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <chrono>
#include <optional>

namespace ddptrain {

/// A copy in pinned host memory, queued on the current stream of the values' device while the
/// device computes on. Values of the host are used as they are.
class AsyncHostCopy {
 public:
  explicit AsyncHostCopy(const at::Tensor& values);
  /// The values on the host. Waits for the copy, and not for work that was queued after it.
  const at::Tensor& wait();
  /// Whether the copy ends within `limit`: wait() then does not block. A device that waits for
  /// another rank never ends it.
  bool arrives_within(std::chrono::milliseconds limit) const;

 private:
  at::Tensor values_;
  std::optional<c10::Event> copied_;
};

}  // namespace ddptrain
