#include "cuda_stand_in/core/captures.h"

#include <driver_types.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cuda_stand_in/core/report.h"

namespace ddptrain::stand_in {
namespace {

thread_local CaptureMode mode_of_thread = CaptureMode::global;

bool is_of_this_thread(const StreamCapture& capture) {
  return capture.thread == std::this_thread::get_id() && capture.mode != CaptureMode::relaxed;
}

/// STAND_IN_FAIL_CAPTURES=DEVICE: of a capture on this device no graph comes.
bool gives_no_graph(const GpuStream& stream) {
  static const char* device = std::getenv("STAND_IN_FAIL_CAPTURES");
  return device != nullptr && std::atoi(device) == stream.device;
}

}  // namespace

std::size_t CapturedGraph::kernels() const {
  return static_cast<std::size_t>(std::count_if(operations.begin(), operations.end(),
                                                [](const auto& o) { return o.is_kernel; }));
}

Captures& Captures::get() {
  static auto* all = new Captures;
  return *all;
}

int Captures::begin(GpuStream& stream, CaptureMode mode) {
  count(Count::captures);
  if (stream.is_default) {
    remark("a capture of " + stream_name(stream.id) + ": CUDA captures other streams only");
    return cudaErrorStreamCaptureUnsupported;
  }
  if (stream.capture != nullptr) return cudaErrorIllegalState;
  auto made = std::make_unique<StreamCapture>();
  made->number = ++newest_;
  made->mode = mode;
  made->thread = std::this_thread::get_id();
  made->origin = &stream;
  made->clocks[stream.id] = {};
  stream.capture = made.get();
  under_way_.push_back(std::move(made));
  log_line("begin capture @" + std::to_string(stream.id));
  return 0;
}

int Captures::end(GpuStream& stream, std::unique_ptr<CapturedGraph>& graph) {
  auto* capture = stream.capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != &stream) return cudaErrorStreamCaptureUnmatched;
  if (capture->mode != CaptureMode::relaxed && capture->thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;
  log_line("end capture @" + std::to_string(stream.id));
  auto& last = capture->clocks[stream.id];
  bool is_joined = true;
  for (const auto& [other, clock] : capture->clocks) {
    is_joined = is_joined && last.knows(clock);
    if (!capture->is_broken && !last.knows(clock))
      remark("the capture of " + stream_name(stream.id) + " ends while " + stream_name(other) +
             " has work in it that no event joined");
  }
  const bool is_broken = std::exchange(capture->is_broken, true) || gives_no_graph(stream);
  for (const auto& [id, clock] : capture->clocks) Gpus::get().stream_of(id).capture = nullptr;
  if (!is_broken && is_joined)
    graph = std::make_unique<CapturedGraph>(CapturedGraph{std::move(capture->operations)});
  else
    count(Count::broken_captures);
  std::erase_if(under_way_, [&](const auto& one) { return one.get() == capture; });
  if (is_broken) return cudaErrorStreamCaptureInvalidated;
  return is_joined ? 0 : cudaErrorStreamCaptureUnjoined;
}

CaptureMode Captures::exchange_mode(CaptureMode mode) {
  return std::exchange(mode_of_thread, mode);
}

void Captures::break_off(StreamCapture& capture, const std::string& sentence) {
  if (!capture.is_broken)
    remark("the capture of " + stream_name(capture.origin->id) + " is broken by " + sentence);
  capture.is_broken = true;
}

int Captures::refuse_unsafe(const char* call) {
  if (mode_of_thread == CaptureMode::relaxed) return 0;
  for (const auto& capture : under_way_) {
    const bool forbids = is_of_this_thread(*capture) || (mode_of_thread == CaptureMode::global &&
                                                         capture->mode == CaptureMode::global);
    if (!forbids) continue;
    break_off(*capture, std::string(call) + ", which CUDA forbids while a stream is captured");
    return cudaErrorStreamCaptureUnsupported;
  }
  return 0;
}

int Captures::refuse_on(GpuStream& stream, const char* call) {
  if (stream.capture == nullptr) return 0;
  break_off(*stream.capture, std::string(call) + " of " + stream_name(stream.id) +
                                 ", whose work is not done but captured");
  return cudaErrorStreamCaptureUnsupported;
}

int Captures::refuse_event(const GpuEvent& event, const char* call) {
  if (event.capture == 0) return 0;
  for (const auto& capture : under_way_)
    if (capture->number == event.capture)
      break_off(*capture, std::string(call) + " of an event that was recorded in it");
  return cudaErrorCapturedEvent;
}

int Captures::add(GpuStream& stream, GpuOperation operation) {
  auto& capture = *stream.capture;
  if (capture.is_broken) return cudaErrorStreamCaptureInvalidated;
  auto& clock = capture.clocks[stream.id];
  clock.advance(stream.id);
  const PlacedOperation placed{interned(operation.name), stream.id, clock.of(stream.id)};
  for (const auto& access : operation.accesses)
    if (const auto sentence = capture.history.note(access, placed, clock))
      fault("in a capture: " + *sentence);
  capture.operations.push_back(std::move(operation));
  return 0;
}

int Captures::record(GpuStream& stream, GpuEvent& event) {
  auto& capture = *stream.capture;
  if (capture.is_broken) return cudaErrorStreamCaptureInvalidated;
  event.is_recorded = true;
  event.capture = capture.number;
  event.clock = capture.clocks[stream.id];  // an event is no node of the graph
  return 0;
}

int Captures::wait(GpuStream& stream, const GpuEvent& event) {
  if (event.capture == 0) {
    if (!event.is_recorded) return 0;
    break_off(*stream.capture, "a wait of " + stream_name(stream.id) +
                                   " for an event that was recorded outside of it");
    return cudaErrorStreamCaptureIsolation;
  }
  for (const auto& capture : under_way_) {
    if (capture->number != event.capture) continue;
    if (stream.capture != nullptr && stream.capture != capture.get()) {
      break_off(*capture, "a wait of " + stream_name(stream.id) + ", which another capture has");
      return cudaErrorStreamCaptureMerge;
    }
    if (capture->is_broken) return cudaErrorStreamCaptureInvalidated;
    stream.capture = capture.get();
    auto& clock = capture->clocks[stream.id];
    clock.join(event.clock);
    return 0;
  }
  remark(stream_name(stream.id) + " waits for an event that was recorded in a capture, now ended");
  return cudaErrorCapturedEvent;
}

}  // namespace ddptrain::stand_in
