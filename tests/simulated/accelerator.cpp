// What LibTorch and the engine need of the simulated device in addition to operators.
#include <ATen/core/Generator.h>
#include <ATen/detail/HPUHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/version.h>

#include <cstdlib>
#include <functional>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "accelerator/plugin.h"
#include "base/error.h"
#include "simulated/counting.h"
#include "simulated/faults.h"
#include "simulated/graphs.h"
#include "simulated/memory.h"
#include "simulated/simulated.h"
#include "simulated/streams.h"
#include "support/whole_jpeg.h"

namespace ddptrain::simulated {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

Device numbered(int device) { return {c10::kHPU, static_cast<DeviceIndex>(device)}; }

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kHPU; }
  Device exchangeDevice(Device device) const override {
    return numbered(exchange_device(device.index()));
  }
  Device getDevice() const override { return numbered(current_device()); }
  void setDevice(Device device) const override { exchange_device(device.index()); }
  void uncheckedSetDevice(Device device) const noexcept override {
    exchange_device(device.index());
  }
  DeviceIndex deviceCount() const noexcept override {
    return static_cast<DeviceIndex>(device_count());
  }

  Stream getStream(Device device) const override { return current_stream(index_of(device)); }
  Stream getDefaultStream(Device device) const override {
    return Stream(Stream::DEFAULT, numbered(index_of(device)));
  }
  Stream getStreamFromGlobalPool(Device device, bool) const override {
    return next_stream(index_of(device));
  }
  Stream getNewStream(Device device, int) const override { return next_stream(index_of(device)); }
  Stream exchangeStream(Stream stream) const override { return exchange_stream(stream); }
  bool queryStream(const Stream& stream) const override { return is_idle(stream); }
  void synchronizeStream(const Stream& stream) const override {
    count_wait("synchronize of a stream");
    finish(stream);
  }
  void synchronizeDevice(const DeviceIndex device) const override {
    count_wait("synchronize of a device");
    finish_device(device);
  }

  void record(void** event, const Stream& stream, const DeviceIndex,
              const c10::EventFlag) const override {
    record_event(event, stream);
  }
  void block(void* event, const Stream& stream) const override { wait_for_event(event, stream); }
  bool queryEvent(void* event) const override { return has_passed(event); }
  void synchronizeEvent(void* event) const override {
    if (finish_event(event)) count_wait("synchronize of an event");
  }
  double elapsedTime(void* event, void* later, const DeviceIndex) const override {
    return milliseconds_between(event, later);
  }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override {
    destroy_event(event);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const Stream& stream) const override {
    also_used_by(data.get(), static_cast<int>(stream.id()));
  }

 private:
  static int index_of(Device device) {
    return device.has_index() ? device.index() : current_device();
  }
};
C10_REGISTER_GUARD_IMPL(HPU, Guard)

struct Hooks final : at::HPUHooksInterface {
  explicit Hooks(at::HPUHooksArgs) {}
  void init() const override {}
  bool hasHPU() const override { return true; }
  bool isAvailable() const override { return true; }
  bool isBuilt() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return static_cast<DeviceIndex>(device_count()); }
  DeviceIndex getCurrentDevice() const override {
    return static_cast<DeviceIndex>(current_device());
  }
  void setCurrentDevice(DeviceIndex device) const override { exchange_device(device); }
  DeviceIndex exchangeDevice(DeviceIndex device) const override {
    return static_cast<DeviceIndex>(exchange_device(device));
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex device) const override {
    return exchangeDevice(device);
  }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
};

/// Gloo on copies in the host's memory; every collective ends before its call returns.
class Gloo final : public c10d::Backend {
 public:
  using Works = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  explicit Gloo(ddptrain::Backend inner)
      : c10d::Backend(inner->getRank(), inner->getSize()), inner_(std::move(inner)) {}
  const std::string getBackendName() const override { return "simulated"; }

  Works allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    return on_copies(tensors, [inner = inner_, options](Tensors& copies) {
      return inner->allreduce(copies, options);
    });
  }
  Works broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    return on_copies(tensors, [inner = inner_, options](Tensors& copies) {
      return inner->broadcast(copies, options);
    });
  }
  Works allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                  const c10d::AllgatherOptions& options) override {
    return on_copies(outputs.at(0),
                     [inner = inner_, options, input = frozen(inputs.at(0))](Tensors& copies) {
                       std::vector<Tensors> lists{copies};
                       Tensors given{input.cpu()};
                       return inner->allgather(lists, given, options);
                     });
  }
  Works _allgather_base(at::Tensor& output, at::Tensor& input,
                        const c10d::AllgatherOptions& options) override {
    return on_copies({output}, [inner = inner_, options, input = frozen(input)](Tensors& copies) {
      auto given = input.cpu();
      return inner->_allgather_base(copies[0], given, options);
    });
  }
  Works _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                             const c10d::ReduceScatterOptions& options) override {
    return on_copies({output}, [inner = inner_, options, input = frozen(input)](Tensors& copies) {
      auto given = input.cpu();
      return inner->_reduce_scatter_base(copies[0], given, options);
    });
  }
  Works barrier(const c10d::BarrierOptions& options) override { return inner_->barrier(options); }
  void shutdown() override { inner_->shutdown(); }
  void abort() override { inner_->abort(); }

 private:
  using Collective = std::function<Works(Tensors&)>;

  /// A collective that a graph holds.
  struct Kept final : c10d::Work {
    bool wait(std::chrono::milliseconds) override { return true; }
  };

  static Works on_copies(const Tensors& tensors, const Collective& collective) {
    const int device = tensors.at(0).is_hpu() ? tensors.at(0).device().index() : 0;
    if (!tensors.at(0).is_hpu() || capture_under_way(device) == 0) return now(tensors, collective);
    keep(device, [tensors = frozen(tensors), collective] { in_a_graph(tensors, collective); });
    return c10::make_intrusive<Kept>();
  }

  /// A peer that has ended or hangs is in the words of NCCL there: no group is asked that knows
  /// Gloo's.
  static void in_a_graph(const Tensors& tensors, const Collective& collective) {
    try {
      now(tensors, collective);
    } catch (const std::exception& error) {
      const std::string what = error.what();
      for (const auto* sign : {"closed by peer", "reset by peer", "Broken pipe"})
        TORCH_CHECK(what.find(sign) == std::string::npos,
                    "NCCL error: remote process exited or there was a network error");
      for (const auto* sign : {"imed out", "imeout"})
        TORCH_CHECK(what.find(sign) == std::string::npos,
                    "NCCL error: collective operation timeout");
      throw;
    }
  }

  static Works now(const Tensors& tensors, const Collective& collective) {
    for (const auto& tensor : tensors)
      if (tensor.is_hpu()) run_waiting(tensor.device().index());
    const Inside inside;
    Tensors copies;
    for (const auto& tensor : tensors) copies.push_back(tensor.cpu());
    auto work = collective(copies);
    work->wait();
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(copies[i]);
    return work;
  }

  ddptrain::Backend inner_;
};

/// DDPTRAIN_SIMULATED_TRAITS lists them; none without it, so that a run is the CPU's.
DeviceTraits traits() {
  const char* text = std::getenv("DDPTRAIN_SIMULATED_TRAITS");
  const std::string listed = text ? text : "";
  return {listed.find("bf16") != std::string::npos,
          listed.find("channels_last") != std::string::npos};
}

class Simulated final : public Accelerator {
 public:
  c10::DeviceType type() const override { return c10::kHPU; }
  int count() const override {
    if (const char* why = std::getenv("DDPTRAIN_SIMULATED_FAULT"))
      throw Error(Exit::device, "the simulated device cannot be used: " + std::string(why));
    return device_count();
  }
  DeviceFacts facts(int device) const override {
    return {"simulated " + std::to_string(device), {}, memory_of(device).total, traits()};
  }
  bool peer_access(int from, int to) const override { return from == to; }
  std::vector<std::pair<std::string, std::string>> versions() const override {
    return {{"simulated runtime", "1.0"}};
  }
  void select(int device) const override { exchange_device(device); }
  void be_deterministic() const override {}  // it is
  DeviceMemory memory(int device) const override { return memory_of(device); }
  void reset_peak_memory(int device) const override { reset_peak(device); }
  void empty_cache() const override { return_unused(); }
  c10::DataPtr host_memory(std::int64_t bytes) const override {
    return pinned_allocator().allocate(static_cast<std::size_t>(bytes));
  }
  DeviceJpegDecoder jpeg_decoder(int) const override {
    if (std::getenv("DDPTRAIN_SIMULATED_NVJPEG"))
      throw Error(Exit::device, "there is no simulated nvJPEG");
    return [](const JpegImage& image) {
      return test::decode_whole_jpeg(image.file.data(), image.file.size(), image.channels,
                                     [&](std::size_t) { return image.pixels; });
    };
  }
  std::unique_ptr<DeviceGraph> capture(int device, const DeviceWork& work) const override {
    return simulated::capture(device, work);
  }
  ddptrain::Backend process_group(const Store& store, const BackendOptions& options,
                                  int) const override {
    return c10::make_intrusive<Gloo>(make_gloo(store, options));
  }
};

// Passes set_devices() and set_memory() on to a started program.
const Accelerator& open_simulated(const PluginHost&) {
  if (const char* devices = std::getenv("DDPTRAIN_SIMULATED_COUNT"))
    set_devices(std::atoi(devices));
  if (const char* bytes = std::getenv("DDPTRAIN_SIMULATED_MEMORY")) set_memory(std::atoll(bytes));
  if (is_another("NCCL"))
    throw Error(Exit::device, "CUDA cannot be used: " + version_conflict("NCCL", 22809, 22703));
  static const Simulated simulated;
  return simulated;
}

}  // namespace
}  // namespace ddptrain::simulated

namespace at {
C10_REGISTER_CLASS(HPUHooksRegistry, HPUHooks, ddptrain::simulated::Hooks)
}

extern "C" const ddptrain::AcceleratorPlugin* ddptrain_accelerator() {
  using ddptrain::simulated::is_another;
  static const ddptrain::AcceleratorPlugin plugin{
      ddptrain::AcceleratorPlugin::current + (is_another("plug-in") ? 1 : 0),
      is_another("torch") ? "2.10.0" : TORCH_VERSION, ddptrain::simulated::open_simulated};
  return &plugin;
}
