// What a checkpoint holds, as it is now, while training changes the tensors it came from.
#pragma once

#include <c10/core/Event.h>

#include <vector>

#include "checkpoint/checkpoint.h"

namespace ddptrain {

/// Copies of a checkpoint's parts in the host's memory: of a device's in pinned memory. They are
/// issued on the device's current stream, behind what it has to do already and before what comes
/// next, without a wait here.
class HostCopy {
 public:
  explicit HostCopy(const CheckpointParts& parts);
  /// When the copies are there; from any thread.
  const CheckpointParts& get() const;

 private:
  void issue(std::vector<TensorPart>& parts);
  void follow(at::Device device);

  std::vector<at::Device> devices_;
  std::vector<c10::Event> events_;  // behind the copies, one for each device
  CheckpointParts copy_;
};

}  // namespace ddptrain
