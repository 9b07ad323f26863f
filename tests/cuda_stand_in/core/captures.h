// Captures of streams into graphs, and what CUDA forbids during one.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cuda_stand_in/core/gpus.h"

namespace ddptrain::stand_in {

/// As cudaStreamCaptureMode has them.
enum class CaptureMode { global, of_thread, relaxed };

struct StreamCapture {
  unsigned long long number = 0;
  CaptureMode mode = CaptureMode::global;
  std::thread::id thread;
  GpuStream* origin = nullptr;
  std::map<int, VectorClock> clocks;  // of its streams, within the capture
  AccessHistory history;              // likewise
  std::vector<GpuOperation> operations;
  bool is_broken = false;
};

/// What a capture became.
struct CapturedGraph {
  std::vector<GpuOperation> operations;
  std::size_t kernels() const;
};

/// Results are numbers of cudaError_t; 0: it went well. All calls are under the lock of Gpus.
class STAND_IN_API Captures {
 public:
  static Captures& get();

  int begin(GpuStream& stream, CaptureMode mode);
  int end(GpuStream& stream, std::unique_ptr<CapturedGraph>& graph);
  /// The mode of the calling thread from now on; gives the one before.
  CaptureMode exchange_mode(CaptureMode mode);

  /// For a call that CUDA forbids while a capture is under way on this thread, or on any in mode
  /// `global`: breaks it, and gives the error.
  int refuse_unsafe(const char* call);
  /// For a call that a stream which is captured cannot have: a wait of the host.
  int refuse_on(GpuStream& stream, const char* call);
  int refuse_event(const GpuEvent& event, const char* call);
  /// Whether any capture is under way.
  bool any() const { return !under_way_.empty(); }

  int add(GpuStream& stream, GpuOperation operation);
  int record(GpuStream& stream, GpuEvent& event);
  /// The stream joins the event's capture; or the wait is refused.
  int wait(GpuStream& stream, const GpuEvent& event);

 private:
  void break_off(StreamCapture& capture, const std::string& sentence);

  std::vector<std::unique_ptr<StreamCapture>> under_way_;
  unsigned long long newest_ = 0;
};

}  // namespace ddptrain::stand_in
