// Captures and graphs.
#include <algorithm>
#include <memory>

#include "cuda_stand_in/runtime/launches.h"
#include "cuda_stand_in/runtime/runtime.h"

namespace ddptrain::stand_in {
namespace {

CapturedGraph& graph_of(void* handle) { return *static_cast<CapturedGraph*>(handle); }

int end_capture(GpuStream& stream, cudaGraph_t* to) {
  std::unique_ptr<CapturedGraph> graph;
  const auto error = Captures::get().end(stream, graph);
  *to = reinterpret_cast<cudaGraph_t>(graph.release());
  return error;
}

int instantiate(cudaGraphExec_t* to, cudaGraph_t graph) {
  *to = reinterpret_cast<cudaGraphExec_t>(new CapturedGraph(graph_of(graph)));
  return 0;
}

// One operation after another, which is one of the orders that a graph permits.
int launch(CapturedGraph& graph, GpuStream& stream) {
  if (is_lost(stream, graph.kernels())) return cudaErrorLaunchFailure;
  count(Count::graph_launches);
  count(Count::graph_kernels, static_cast<std::int64_t>(graph.kernels()));
  log_line("graph @" + std::to_string(stream.id));
  if (stream.capture != nullptr) fault("a graph is launched into a capture");
  std::size_t mark = 0;
  for (auto operation : graph.operations) {
    operation.name += " of a graph";
    if (operation.prepare) operation.work = operation.prepare();
    mark = std::max(mark, operation.marks_step);
    if (const auto error = Gpus::get().enqueue(stream, std::move(operation))) return error;
  }
  if (mark > 0) mark_step(mark);
  return 0;
}

cudaStreamCaptureStatus status_of(const GpuStream& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->is_broken ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
}

}  // namespace
}  // namespace ddptrain::stand_in

namespace stand_in = ddptrain::stand_in;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::Captures::get().begin(
      gpus->stream(handle), static_cast<stand_in::CaptureMode>(mode)));
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::end_capture(gpus->stream(handle), graph));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const stand_in::LockedGpus gpus;
  *status = stand_in::status_of(gpus->stream(handle));
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* number, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  const stand_in::LockedGpus gpus;
  const auto& stream = gpus->stream(handle);
  *status = stand_in::status_of(stream);
  if (number != nullptr) *number = stream.capture != nullptr ? stream.capture->number : 0;
  if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(stream.capture);
  if (dependencies != nullptr) *dependencies = nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = 0;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  *mode = static_cast<cudaStreamCaptureMode>(
      stand_in::Captures::get().exchange_mode(static_cast<stand_in::CaptureMode>(*mode)));
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  *count = stand_in::graph_of(graph).operations.size();
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*,
                                         std::size_t* count) {
  *count = 0;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* to, cudaGraph_t graph,
                                          unsigned long long) {
  return stand_in::result(stand_in::instantiate(to, graph));
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* to, cudaGraph_t graph, unsigned long long) {
  return stand_in::result(stand_in::instantiate(to, graph));
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t handle) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::launch(stand_in::graph_of(graph), gpus->stream(handle)));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete &stand_in::graph_of(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete &stand_in::graph_of(graph);
  return cudaSuccess;
}
}
