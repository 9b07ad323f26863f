// Graphs of a device: work that is captured once and then done again as a whole.
#pragma once

#include <functional>
#include <memory>

namespace ddptrain {

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  /// Gives all of it to the device's current stream, in one launch.
  virtual void replay() = 0;
};

/// What gives work to a device.
using DeviceWork = std::function<void()>;

}  // namespace ddptrain
