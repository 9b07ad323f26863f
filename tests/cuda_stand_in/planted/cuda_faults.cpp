// A program that breaks one rule of CUDA, as its argument says; the stand-in has to find it.
//   cuda_faults NAME
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

namespace {

constexpr std::size_t kBytes = 1024;

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(3);
}

cudaStream_t stream() {
  cudaStream_t made = nullptr;
  require(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  return made;
}

cudaEvent_t event() {
  cudaEvent_t made = nullptr;
  require(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  return made;
}

char* on_device(std::size_t bytes = kBytes) {
  void* made = nullptr;
  require(cudaMalloc(&made, bytes));
  return static_cast<char*>(made);
}

char* pinned(std::size_t bytes = kBytes) {
  void* made = nullptr;
  require(cudaHostAlloc(&made, bytes, cudaHostAllocPortable));
  std::memset(made, 7, bytes);
  return static_cast<char*>(made);
}

void copy(char* to, const char* from, cudaStream_t on, std::size_t bytes = kBytes) {
  require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on));
}

void order(cudaStream_t before, cudaStream_t after) {
  const auto between = event();
  require(cudaEventRecord(between, before));
  require(cudaStreamWaitEvent(after, between, 0));
}

cudaKernel_t kernel_add_relu() {
  static const cudaKernel_t kernel = [] {
    cudaLibrary_t library = nullptr;
    require(
        cudaLibraryLoadData(&library, "add_relu_float", nullptr, nullptr, 0, nullptr, nullptr, 0));
    cudaKernel_t found = nullptr;
    require(cudaLibraryGetKernel(&found, library, "add_relu_float"));
    return found;
  }();
  return kernel;
}

/// add_relu of `count` floats.
void add_relu(char* to, const char* from, long long count, cudaStream_t on, unsigned blocks = 1) {
  int vectors = 1;
  void* arguments[] = {&to, &from, &count, &vectors};
  require(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_add_relu()), dim3(blocks),
                           dim3(256), arguments, 0, on));
}

cudaStream_t captured() {
  kernel_add_relu();
  const auto made = stream();
  require(cudaStreamBeginCapture(made, cudaStreamCaptureModeThreadLocal));
  return made;
}

/// Ends a capture; how it went is the program's exit code.
void end(cudaStream_t capture) {
  cudaGraph_t graph = nullptr;
  const auto error = cudaStreamEndCapture(capture, &graph);
  std::fprintf(stderr, "the capture ended with %d\n", static_cast<int>(error));
}

// Nothing is wrong here.
void right() {
  const auto copies = stream(), work = stream();
  char *data = on_device(), *host = pinned();
  copy(data, host, copies);
  order(copies, work);
  add_relu(data, data, kBytes / 4, work);
  order(work, copies);
  copy(host, data, copies);
  require(cudaStreamSynchronize(copies));
  host[0] = 1;
  require(cudaFreeHost(host));
  require(cudaFree(data));
}

// Nor here: another stream's work is joined, and an event after it is no work.
void right_capture() {
  char* data = on_device();
  const auto capture = captured(), other = stream();
  order(capture, other);
  add_relu(data, data, kBytes / 4, other);
  order(other, capture);
  require(cudaEventRecord(event(), other));
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(capture, &graph));
}

void missing_event() {
  const auto copies = stream(), work = stream();
  char *data = on_device(), *host = pinned();
  copy(data, host, copies);
  add_relu(data, data, kBytes / 4, work);
}

// The copy into the memory that the kernel still reads.
void early_overwrite() {
  const auto copies = stream(), work = stream();
  char *data = on_device(), *sum = on_device(), *host = pinned();
  copy(data, host, copies);
  order(copies, work);
  add_relu(sum, data, kBytes / 4, work);
  copy(data, host, copies);
}

// An event is recorded before the work that it should follow.
void early_event() {
  const auto copies = stream(), work = stream();
  char *data = on_device(), *host = pinned();
  order(copies, work);
  copy(data, host, copies);
  add_relu(data, data, kBytes / 4, work);
}

void wrong_stream() {
  char *data = on_device(), *host = pinned();
  copy(data, host, stream());
  add_relu(data, data, kBytes / 4, nullptr);
}

void pinned_buffer_reused() {
  const auto copies = stream();
  char *data = on_device(), *host = pinned();
  copy(data, host, copies);
  host[5] = 1;
  require(cudaStreamSynchronize(copies));
}

void pinned_buffer_written_before_its_copy() {
  const auto copies = stream();
  char *data = on_device(), *host = pinned();
  copy(host, data, copies);
  host[5] = 1;
  require(cudaStreamSynchronize(copies));
}

void pinned_buffer_freed() {
  char *data = on_device(), *host = pinned();
  copy(data, host, stream());
  require(cudaFreeHost(host));
}

void empty_grid() {
  char* data = on_device();
  add_relu(data, data, 0, nullptr, 0);
}

void kernel_beyond_its_allocation() {
  char *data = on_device(), *other = on_device(2 * kBytes);
  add_relu(other, data, 2 * kBytes / 4, nullptr);
}

void kernel_on_freed_memory() {
  char *data = on_device(), *freed = on_device();
  require(cudaFree(freed));
  add_relu(data, freed, kBytes / 4, nullptr);
}

void kernel_on_memory_of_another_device() {
  char* data = on_device();
  require(cudaSetDevice(1));
  add_relu(data, data, kBytes / 4, nullptr);
}

void graph_on_freed_memory() {
  char* data = on_device();
  const auto capture = captured();
  add_relu(data, data, kBytes / 4, capture);
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(capture, &graph));
  cudaGraphExec_t ready = nullptr;
  require(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  require(cudaFree(data));
  require(cudaGraphLaunch(ready, capture));
}

void allocation_in_a_capture() {
  const auto capture = captured();
  void* made = nullptr;
  if (cudaMalloc(&made, kBytes) != cudaErrorStreamCaptureUnsupported) std::exit(4);
  end(capture);
}

void wait_in_a_capture() {
  const auto capture = captured();
  if (cudaStreamSynchronize(capture) != cudaErrorStreamCaptureUnsupported) std::exit(4);
  end(capture);
}

void query_in_a_capture() {
  const auto before = event();
  require(cudaEventRecord(before, nullptr));
  const auto capture = captured();
  if (cudaEventQuery(before) != cudaErrorStreamCaptureUnsupported) std::exit(4);
  end(capture);
}

void wait_for_an_event_from_outside() {
  const auto before = event();
  require(cudaEventRecord(before, nullptr));
  const auto capture = captured();
  if (cudaStreamWaitEvent(capture, before, 0) != cudaErrorStreamCaptureIsolation) std::exit(4);
  end(capture);
}

void capture_of_the_default_stream() {
  const auto error = cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed);
  if (error != cudaErrorStreamCaptureUnsupported) std::exit(4);
}

void stream_left_in_a_capture() {
  char* data = on_device();
  const auto capture = captured(), other = stream();
  order(capture, other);
  add_relu(data, data, kBytes / 4, other);
  end(capture);
}

void pageable_memory_in_a_capture() {
  char* data = on_device();
  const auto capture = captured();
  static char host[kBytes];
  copy(data, host, capture);
}

void first_load_in_a_capture() {
  char* data = on_device();
  const auto capture = captured();
  add_relu(data, data, kBytes / 4, capture);
  end(capture);
}

void code_loaded_in_a_capture() {
  const auto capture = captured();
  cudaLibrary_t library = nullptr;
  if (cudaLibraryLoadData(&library, "", nullptr, nullptr, 0, nullptr, nullptr, 0) !=
      cudaErrorStreamCaptureUnsupported)
    std::exit(4);
  end(capture);
}

const std::map<std::string, std::function<void()>>& all() {
  static const std::map<std::string, std::function<void()>> faults{
      {"right", right},
      {"right_capture", right_capture},
      {"missing_event", missing_event},
      {"early_overwrite", early_overwrite},
      {"early_event", early_event},
      {"wrong_stream", wrong_stream},
      {"pinned_buffer_reused", pinned_buffer_reused},
      {"pinned_buffer_written_before_its_copy", pinned_buffer_written_before_its_copy},
      {"pinned_buffer_freed", pinned_buffer_freed},
      {"empty_grid", empty_grid},
      {"kernel_beyond_its_allocation", kernel_beyond_its_allocation},
      {"kernel_on_freed_memory", kernel_on_freed_memory},
      {"kernel_on_memory_of_another_device", kernel_on_memory_of_another_device},
      {"graph_on_freed_memory", graph_on_freed_memory},
      {"allocation_in_a_capture", allocation_in_a_capture},
      {"wait_in_a_capture", wait_in_a_capture},
      {"query_in_a_capture", query_in_a_capture},
      {"wait_for_an_event_from_outside", wait_for_an_event_from_outside},
      {"capture_of_the_default_stream", capture_of_the_default_stream},
      {"stream_left_in_a_capture", stream_left_in_a_capture},
      {"pageable_memory_in_a_capture", pageable_memory_in_a_capture},
      {"first_load_in_a_capture", first_load_in_a_capture},
      {"code_loaded_in_a_capture", code_loaded_in_a_capture}};
  return faults;
}

}  // namespace

int main(int, char** arguments) {
  all().at(arguments[1])();
  return 0;
}
