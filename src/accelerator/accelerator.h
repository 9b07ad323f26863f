// What the engine needs of a kind of device: the CPU, CUDA from its plug-in, or the simulated one
// of the tests. Only this folder knows which kinds there are.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "accelerator/graph.h"
#include "accelerator/process_group.h"

namespace ddptrain {

enum class DeviceKind;  // recipe/recipe.h

/// Bytes on one device.
struct DeviceMemory {
  std::int64_t reserved = 0;       // held by the allocator, in tensors or not
  std::int64_t peak_reserved = 0;  // most of that since reset_peak_memory()
  std::int64_t total = 0;          // of the device; 0 where it is not counted, as on the CPU
};

/// What devices are good at: `auto` in a recipe goes by it.
struct DeviceTraits {
  bool has_bf16 = false;                // arithmetic of its own, faster than that of fp32
  bool gains_by_channels_last = false;  // convolutions are faster over NHWC
};

/// One device, for a person.
struct DeviceFacts {
  std::string name;
  std::string
      capability;  // "9.0", by which CUDA's kernels are chosen; empty: there is no such number
  std::int64_t memory = 0;  // bytes; 0 where it is not counted
  DeviceTraits traits;
};

/// A JPEG, and where its pixels go in the host's memory: width x height x channels (3, or 1 for
/// gray) bytes. The size is that of the file.
struct JpegImage {
  std::span<const std::uint8_t> file;
  int width = 0, height = 0, channels = 3;
  std::uint8_t* pixels = nullptr;
};

/// False where it does not take the file, which may be damaged. For many threads at a time.
using DeviceJpegDecoder = std::function<bool(const JpegImage&)>;

/// Devices have the numbers 0 to count() - 1. What fails is a std::exception whose first line says
/// what.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual c10::DeviceType type() const = 0;
  /// Devices that this process may use. Throws where the driver or the devices cannot be used.
  virtual int count() const = 0;
  virtual DeviceFacts facts(int device) const = 0;
  std::string name(int device) const { return facts(device).name; }
  /// Whether one device reads another's memory without the host.
  virtual bool peer_access(int from, int to) const = 0;
  /// The vendor's libraries, as they were found: {"NCCL", "2.28.9"}.
  virtual std::vector<std::pair<std::string, std::string>> versions() const = 0;
  /// The calling thread computes there from now on.
  virtual void select(int device) const = 0;
  /// Asks the vendor's libraries for results that repeat. Before they are used.
  virtual void be_deterministic() const = 0;
  /// Of a device that was used; cheap enough to be asked after every step.
  virtual DeviceMemory memory(int device) const = 0;
  virtual void reset_peak_memory(int device) const = 0;
  /// Gives memory that no tensor holds back to the devices.
  virtual void empty_cache() const = 0;
  /// Memory of the host, exactly so many bytes, that devices copy from and to without a wait
  /// (pinned). Throws where there is none.
  virtual c10::DataPtr host_memory(std::int64_t bytes) const = 0;
  /// Decodes JPEGs on a device. Throws an Error (Exit::device) where there is nothing that does.
  virtual DeviceJpegDecoder jpeg_decoder(int device) const = 0;
  /// Captures what `work` gives to a device, from this thread and from backward passes in it, on a
  /// stream of its own. Nothing is computed before the first replay. Memory of tensors that were
  /// made in it stays the graph's; what it reads and writes must stay where it is. Throws, and
  /// nothing has changed, what `work` throws, and where the host waits for the device in it or
  /// copies from memory that is not pinned.
  virtual std::unique_ptr<DeviceGraph> capture(int device, const DeviceWork& work) const = 0;
  /// Collectives between processes on tensors of `device`. All ranks call it.
  virtual Backend process_group(const Store& store, const BackendOptions& options,
                                int device) const = 0;
};

/// Before accelerator() of a process that computes on several devices. Where LibTorch 2.11 returns
/// memory of growing segments to the system, it waits for the default stream of the current device
/// (ExpandableSegment::unmapHandles), and another device may still use that memory: cuDNN's
/// benchmark does so on each replica's thread. So segments keep their size, unless the user says
/// otherwise.
void keep_segment_sizes();

/// The accelerator of a kind, opened at the first call: for CUDA that is to be before LibTorch
/// computes anything, which asks once and for good whether there is CUDA. An Error (Exit::device)
/// says why it cannot be used and what would do. The kind is not `automatic`.
const Accelerator& accelerator(DeviceKind kind);

}  // namespace ddptrain
