// Streams and events.
#include <memory>
#include <set>

#include "cuda_stand_in/runtime/runtime.h"

namespace ddptrain::stand_in {
namespace {

GpuEvent& event_of(cudaEvent_t handle) { return *reinterpret_cast<GpuEvent*>(handle); }

int make_stream(cudaStream_t* to, unsigned flags) {
  const LockedGpus gpus;
  gpus->use(gpus->current());
  auto& made = gpus->new_stream(gpus->current(), (flags & cudaStreamNonBlocking) == 0);
  *to = reinterpret_cast<cudaStream_t>(&made);
  return 0;
}

int wait_for(GpuStream& stream, const char* call) {
  if (const auto error = Captures::get().refuse_on(stream, call)) return error;
  if (const auto error = Captures::get().refuse_unsafe(call)) return error;
  count(Count::stream_syncs);
  log_line(std::string(call) + " @" + std::to_string(stream.id));
  Gpus::get().host_waits(stream.clock);
  return 0;
}

int ask(GpuStream& stream) {
  if (const auto error = Captures::get().refuse_on(stream, "cudaStreamQuery")) return error;
  if (const auto error = Captures::get().refuse_unsafe("cudaStreamQuery")) return error;
  return Gpus::get().host_asks(VectorClock(stream.clock)) ? cudaSuccess : cudaErrorNotReady;
}

int wait_for(const GpuEvent& event) {
  if (const auto error = Captures::get().refuse_event(event, "cudaEventSynchronize")) return error;
  if (const auto error = Captures::get().refuse_unsafe("cudaEventSynchronize")) return error;
  count(Count::event_waits);
  log_line("cudaEventSynchronize");
  Gpus::get().host_waits(event.clock);
  return 0;
}

int ask(const GpuEvent& event) {
  if (const auto error = Captures::get().refuse_event(event, "cudaEventQuery")) return error;
  if (const auto error = Captures::get().refuse_unsafe("cudaEventQuery")) return error;
  return Gpus::get().host_asks(event.clock) ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace
}  // namespace ddptrain::stand_in

namespace stand_in = ddptrain::stand_in;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* to) {
  return stand_in::result(stand_in::make_stream(to, 0));
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* to, unsigned flags) {
  return stand_in::result(stand_in::make_stream(to, flags));
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* to, unsigned flags, int) {
  return stand_in::result(stand_in::make_stream(to, flags));
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }  // its work still has to end
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::wait_for(gpus->stream(handle), "cudaStreamSynchronize"));
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const stand_in::LockedGpus gpus;
  const int error = stand_in::ask(gpus->stream(handle));
  return error == cudaErrorNotReady ? cudaErrorNotReady : stand_in::result(error);
}
cudaError_t cudaDeviceSynchronize() {
  const stand_in::LockedGpus gpus;
  if (const auto error = stand_in::Captures::get().refuse_unsafe("cudaDeviceSynchronize"))
    return stand_in::result(error);
  stand_in::count(stand_in::Count::device_syncs);
  stand_in::log_line("cudaDeviceSynchronize");
  gpus->host_waits(gpus->clock_of_device(gpus->current()));
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* to) { return cudaEventCreateWithFlags(to, 0); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* to, unsigned) {
  *to = reinterpret_cast<cudaEvent_t>(new stand_in::GpuEvent);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const stand_in::LockedGpus gpus;
  delete &stand_in::event_of(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  const stand_in::LockedGpus gpus;
  stand_in::count(stand_in::Count::records);
  auto& stream = gpus->stream(handle);
  stand_in::log_line("record @" + std::to_string(stream.id));
  return stand_in::result(gpus->record(stream, stand_in::event_of(event)));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  if (flags != 0) stand_in::fault("cudaEventRecordWithFlags: the stand-in has no external events");
  return cudaEventRecord(event, handle);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const stand_in::LockedGpus gpus;
  const int error = stand_in::ask(stand_in::event_of(event));
  return error == cudaErrorNotReady ? cudaErrorNotReady : stand_in::result(error);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::wait_for(stand_in::event_of(event)));
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  const stand_in::LockedGpus gpus;
  stand_in::count(stand_in::Count::stream_waits);
  auto& stream = gpus->stream(handle);
  stand_in::log_line("wait @" + std::to_string(stream.id));
  return stand_in::result(gpus->wait(stream, stand_in::event_of(event)));
}
}
