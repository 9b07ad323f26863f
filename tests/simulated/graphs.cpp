#include "simulated/graphs.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "simulated/counting.h"
#include "simulated/faults.h"
#include "simulated/memory.h"
#include "simulated/streams.h"

namespace ddptrain::simulated {
namespace {

/// Memory that was there before the capture, and its bytes.
struct Before {
  c10::Storage storage;
  std::vector<char> bytes;
};

struct Capture {
  std::mutex mutex;  // backward passes have a thread of their own
  int number = 0;
  std::vector<DeviceWork> work;
  std::map<const void*, Before> changed;
};

/// Which capture a device is in, and on which stream.
struct UnderWay {
  std::atomic<int> number{0};
  std::atomic<int> stream{0};
  Capture* capture = nullptr;
};

std::array<UnderWay, kMostDevices>& under_way() {
  static auto* all = new std::array<UnderWay, kMostDevices>;
  return *all;
}

UnderWay& of(int device) { return under_way().at(static_cast<std::size_t>(device)); }

c10::Device hpu(int device) { return {c10::kHPU, static_cast<c10::DeviceIndex>(device)}; }

/// Restores what it has changed when it ends, however it does.
class Capturing {
 public:
  Capturing(int device, Capture& capture, c10::Stream stream) : device_(device), capture_(capture) {
    static std::atomic<int> last{0};
    capture.number = ++last;
    auto& now = of(device);
    TORCH_CHECK(now.number == 0, "a device is captured once at a time");
    now.capture = &capture;
    now.stream = static_cast<int>(stream.id());
    now.number = capture.number;
  }
  ~Capturing() {
    of(device_).number = 0;
    of(device_).capture = nullptr;
    for (auto& [start, before] : capture_.changed) {
      const Access open({start}, 0);
      std::memcpy(before.storage.mutable_data(), before.bytes.data(), before.bytes.size());
    }
    capture_.changed.clear();
    fill_memory_of(capture_.number);
  }
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;

 private:
  int device_;
  Capture& capture_;
};

class Graph final : public DeviceGraph {
 public:
  Graph(int device, std::vector<DeviceWork> work) : device_(device), work_(std::move(work)) {}

  void replay() override {
    fail_if_asked("replay");
    count(&Counts::operators);
    count(&Counts::replays);
    const c10::DeviceGuard device(hpu(device_));
    run_waiting(device_);
    const Inside inside;
    const at::NoGradGuard no_grad;
    const at::AutoDispatchBelowADInplaceOrView below;
    for (const auto& each : work_) each();
  }

 private:
  int device_;
  std::vector<DeviceWork> work_;
};

}  // namespace

int capture_under_way(int device) {
  const auto& now = of(device);
  const int number = now.number;
  return number != 0 && now.stream == static_cast<int>(current_stream(device).id()) ? number : 0;
}

void forbid_in_a_capture(const std::string& what) {
  TORCH_CHECK(capture_under_way(current_device()) == 0,
              "CUDA error: operation not permitted when stream is capturing (", what, ")");
}

at::Tensor frozen(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  auto* self = tensor.unsafeGetTensorImpl();
  if (tensor.is_cpu() && !self->is_wrapped_number()) return tensor.detach().clone();
  return at::Tensor(self->shallow_copy_and_detach(/*version_counter=*/0,
                                                  /*allow_tensor_metadata_change=*/false));
}

c10::IValue frozen(const c10::IValue& value) {
  if (value.isTensor()) return frozen(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(frozen(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
      list.push_back(tensor ? std::optional(frozen(*tensor)) : std::nullopt);
    return list;
  }
  return value;
}

std::vector<at::Tensor> frozen(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const auto& tensor : tensors) all.push_back(frozen(tensor));
  return all;
}

void keep(int device, DeviceWork work) {
  auto& capture = *of(device).capture;
  const std::lock_guard lock(capture.mutex);
  capture.work.push_back(std::move(work));
}

void will_change(int device, const at::Tensor& tensor) {
  auto& capture = *of(device).capture;
  const auto& storage = tensor.storage();
  const void* start = storage.data();
  const std::lock_guard lock(capture.mutex);
  if (start == nullptr || graph_of(start) == capture.number || capture.changed.contains(start))
    return;
  const Access open({start});
  const auto* bytes = static_cast<const char*>(start);
  capture.changed.emplace(start, Before{storage, {bytes, bytes + storage.nbytes()}});
}

std::unique_ptr<DeviceGraph> capture(int device, const DeviceWork& work) {
  const c10::DeviceGuard guard(hpu(device));
  run_all_waiting(device);
  Capture made;
  {
    const auto stream = next_stream(device);
    const c10::StreamGuard on(stream);
    const Capturing now(device, made, stream);
    work();
    fail_if_asked("capture");
  }
  return std::make_unique<Graph>(device, std::move(made.work));
}

}  // namespace ddptrain::simulated
