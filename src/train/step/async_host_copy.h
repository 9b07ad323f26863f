// Values of a device on the way to the host.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <optional>

namespace ddptrain {

/// A copy in the host's memory. That of a device's tensor is under way while the device goes on to
/// compute; values of the host are taken as they are.
class AsyncHostCopy {
 public:
  explicit AsyncHostCopy(const at::Tensor& values);
  /// The values, once they have arrived.
  const at::Tensor& wait();

 private:
  at::Tensor values_;
  std::optional<c10::Event> copied_;
};

}  // namespace ddptrain
