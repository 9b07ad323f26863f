// Numbers on their way from a device to the host, which waits for them as late as it can.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <chrono>
#include <optional>

namespace ddptrain {

class LateNumbers {
 public:
  /// Copies them behind all that the current stream of their device was given so far. Those of the
  /// CPU are there at once.
  explicit LateNumbers(const at::Tensor& numbers);
  /// On the host. Waits for the copy, and not for what the device was given after it.
  const at::Tensor& read();
  /// Whether they came within `limit`: read() then does not wait. A device that waits for another
  /// rank never brings them.
  bool come_within(std::chrono::milliseconds limit) const;

 private:
  at::Tensor host_;
  std::optional<c10::Event> arrived_;
};

}  // namespace ddptrain
