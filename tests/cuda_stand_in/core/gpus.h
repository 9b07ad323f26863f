// The devices: streams whose copies run as late as the order of streams and events permits.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cuda_stand_in/core/exported.h"
#include "cuda_stand_in/core/memory.h"
#include "cuda_stand_in/core/vector_clock.h"

namespace ddptrain::stand_in {

struct StreamCapture;

/// A copy, a memset or the launch of a kernel. Kernels have no `work`: they compute nothing.
struct GpuOperation {
  std::string name;
  std::vector<MemoryAccess> accesses;
  std::function<void()> work;
  std::function<std::function<void()>()> prepare;  // of a graph: gives the work of each launch
  bool is_kernel = false;
  std::size_t marks_step = 0;  // bytes that may be the numbers of a step
};

struct GpuStream {
  int id = 0;
  int device = 0;
  bool is_default = false;
  bool waits_for_default = false;  // made without cudaStreamNonBlocking
  VectorClock clock;               // of its newest operation
  StreamCapture* capture = nullptr;
  struct Late {
    VectorClock clock;
    std::function<void()> work;
  };
  std::deque<Late> late;  // copies that did not run yet
};

struct GpuEvent {
  bool is_recorded = false;
  VectorClock clock;
  unsigned long long capture = 0;  // the number of the capture that it was recorded in; 0: none
};

/// A fault unless all that it uses is allocated, where its stream can reach it.
void check_memory(const GpuOperation& operation, const GpuStream& stream);

/// All of them, and the host, which is one clock: what one thread waited for, all are taken to
/// know. So an order that only threads could break is not seen; no order is missed that streams
/// need.
class STAND_IN_API Gpus {
 public:
  /// `lock` is to be held where any other member is used.
  static Gpus& get();
  std::recursive_mutex& mutex() { return mutex_; }

  int count() const { return static_cast<int>(visible_.size()); }
  static int current();
  static void select(int device);

  /// A context on the device, as the first call that needs one has it.
  void use(int device) { used_.insert(device); }
  bool is_used(int device) const { return used_.contains(device); }

  GpuStream& new_stream(int device, bool waits_for_default);
  /// Of a handle of CUDA: 0, 1 and 2 are the default stream of the current device.
  GpuStream& stream(const void* handle);
  GpuStream& default_stream(int device);
  GpuStream& stream_of(int id) { return *streams_[static_cast<std::size_t>(id)]; }
  std::string name_of(int stream) const;

  /// Behind all that the stream has, or into its capture. A fault where memory is not allocated, or
  /// its use is not ordered. These three give a number of cudaError_t; 0: it went well.
  int enqueue(GpuStream& stream, GpuOperation operation);
  int record(GpuStream& stream, GpuEvent& event);
  int wait(GpuStream& stream, const GpuEvent& event);

  /// Runs what is ordered before, and the host knows that it ended.
  void host_waits(const VectorClock& clock);
  /// Whether the host learns that it ended: at random, until it must have.
  bool host_asks(const VectorClock& clock);
  VectorClock clock_of_device(int device) const;
  bool host_knows(const VectorClock& clock) const { return host_.knows(clock); }
  const VectorClock& host() const { return host_; }

  /// LibTorch's allocator gave a block to a stream: from now on it may write there.
  void give_block(GpuStream& stream, std::uintptr_t begin, std::size_t bytes);

  Allocations& allocations() { return allocations_; }
  AccessHistory& history() { return history_; }
  /// Bytes that a device has: STAND_IN_MEMORY, or 80 GiB.
  std::size_t memory() const { return memory_; }

 private:
  Gpus();
  PlacedOperation place(GpuStream& stream, const std::string& name);
  void run_late(const VectorClock& until);
  void run_some();
  bool chance(int one_in);

  std::recursive_mutex mutex_;
  std::vector<int> visible_;
  std::set<int> used_;
  std::vector<std::unique_ptr<GpuStream>> streams_;  // by id
  std::vector<int> defaults_;                        // of devices: ids
  VectorClock host_;
  Allocations allocations_;
  AccessHistory history_;
  std::mt19937 random_;
  std::size_t memory_ = 0;
};

/// The devices, locked.
class LockedGpus {
 public:
  LockedGpus() : lock_(Gpus::get().mutex()) {}
  Gpus* operator->() const { return &Gpus::get(); }
  Gpus& operator*() const { return Gpus::get(); }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

}  // namespace ddptrain::stand_in
