// Graphs of the simulated devices. What is given to a stream that is captured is kept, to be done
// at each replay. To know shapes it is done once at the capture too, and undone at its end: memory
// that was there before is as it was, and new memory holds bytes of 255.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <functional>
#include <string>
#include <vector>

#include "accelerator/graph.h"

namespace ddptrain::simulated {

/// The number of the capture that the calling thread's stream of a device is in; 0: none.
int capture_under_way(int device);
/// As CUDA: throws where the current device is captured by this thread.
void forbid_in_a_capture(const std::string& what);

/// The tensor as it is: in a graph it keeps its memory and its sizes. A number of the host keeps
/// its value, as an argument of a kernel does.
at::Tensor frozen(const at::Tensor& tensor);
c10::IValue frozen(const c10::IValue& value);
std::vector<at::Tensor> frozen(const std::vector<at::Tensor>& tensors);

/// Adds to the graph.
void keep(int device, DeviceWork work);
/// The capture under way is about to change this tensor's memory.
void will_change(int device, const at::Tensor& tensor);

std::unique_ptr<DeviceGraph> capture(int device, const DeviceWork& work);

}  // namespace ddptrain::simulated
