// Copies and memsets.
#include <cstring>
#include <memory>

#include "cuda_stand_in/runtime/runtime.h"

namespace ddptrain::stand_in {
namespace {

bool is_on_device(const Allocation* memory) { return memory != nullptr && memory->device != kHost; }
bool is_pinned(const Allocation* memory) { return memory != nullptr && memory->device == kHost; }

std::uint64_t digest(const void* data, std::size_t bytes) {
  std::uint64_t sum = 14695981039346656037U;  // FNV-1a over words
  const auto* from = static_cast<const unsigned char*>(data);
  for (; bytes >= 8; bytes -= 8, from += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, 8);
    sum = (sum ^ word) * 1099511628211U;
  }
  for (; bytes > 0; --bytes) sum = (sum ^ *from++) * 1099511628211U;
  return sum;
}

constexpr std::size_t kSmall = 4096;

// As the sums of a step's window (distributed/window_numbers.h), to which an engine may append.
bool may_be_numbers_of_a_step(std::size_t bytes) {
  return bytes >= 9 * sizeof(double) && bytes <= kSmall && bytes % sizeof(double) == 0;
}

// Kernels computed nothing, so that what lies on the device means nothing where it is small: a
// score is zero, the sums of a step are a loss of 1 of 64 samples. Weights are as they were copied
// there.
void give_to_host(void* to, const void* from, std::size_t bytes) {
  if (bytes > kSmall) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memset(to, 0, bytes);
  if (!may_be_numbers_of_a_step(bytes)) return;
  const double numbers[] = {1, 64};
  std::memcpy(to, numbers, sizeof numbers);
}

struct Transfer {
  void* to;
  const void* from;
  std::size_t bytes;
};

std::string at(const void* address) {
  return hexadecimal(reinterpret_cast<std::uintptr_t>(address));
}

std::function<void()> from_pinned(const Transfer& t, const std::string& name) {
  return [t, name, as_it_was = digest(t.from, t.bytes)] {
    if (digest(t.from, t.bytes) != as_it_was)
      fault(name + ": " + std::to_string(t.bytes) + " bytes of host memory at " + at(t.from) +
            " were changed before their copy ran");
    std::memcpy(t.to, t.from, t.bytes);
  };
}

// Until the copy runs its destination is NaN, and must stay so; unless other copies there are under
// way, which must come first.
std::function<void()> to_pinned(const Transfer& t, const std::string& name) {
  auto& gpus = Gpus::get();
  const auto begin = reinterpret_cast<std::uintptr_t>(t.to);
  if (gpus.history().pending(begin, t.bytes, gpus.host()))
    return [t] { give_to_host(t.to, t.from, t.bytes); };
  std::memset(t.to, 0xff, t.bytes);
  return [t, name, as_it_was = digest(t.to, t.bytes)] {
    if (digest(t.to, t.bytes) != as_it_was)
      fault(name + ": " + std::to_string(t.bytes) + " bytes of host memory at " + at(t.to) +
            " were written before the copy to them ran");
    give_to_host(t.to, t.from, t.bytes);
  };
}

std::vector<MemoryAccess> accesses(const Transfer& t, const Allocation* to,
                                   const Allocation* from) {
  std::vector<MemoryAccess> all;
  if (from != nullptr) all.push_back(reads(t.from, t.bytes));
  if (to != nullptr) all.push_back(writes(t.to, t.bytes));
  return all;
}

int copy_to_device(GpuStream& stream, const Transfer& t, GpuOperation operation,
                   const Allocation* from) {
  count(Count::to_device);
  if (stream.is_default) count(Count::step_copies);
  if (is_pinned(from)) {
    if (stream.capture == nullptr)
      operation.work = from_pinned(t, operation.name);
    else
      operation.prepare = [t, name = operation.name] { return from_pinned(t, name); };
  } else if (stream.capture != nullptr) {
    fault("a graph gets a copy from pageable host memory at " + at(t.from) + " on " +
          stream_name(stream.id) + ", which need not be there when the graph is replayed");
  } else {
    auto bytes = std::make_shared<std::string>(static_cast<const char*>(t.from), t.bytes);
    operation.work = [t, bytes] { std::memcpy(t.to, bytes->data(), t.bytes); };
  }
  return Gpus::get().enqueue(stream, std::move(operation));
}

int copy_to_host(GpuStream& stream, const Transfer& t, GpuOperation operation,
                 const Allocation* to) {
  count(Count::to_host);
  if (is_pinned(to)) {
    if (may_be_numbers_of_a_step(t.bytes)) operation.marks_step = t.bytes;
    const auto mark = stream.capture == nullptr ? operation.marks_step : 0;
    if (stream.capture == nullptr)
      operation.work = to_pinned(t, operation.name);
    else
      operation.prepare = [t, name = operation.name] { return to_pinned(t, name); };
    const auto error = Gpus::get().enqueue(stream, std::move(operation));
    if (mark > 0) mark_step(mark);
    return error;
  }
  if (const auto error = Captures::get().refuse_on(stream, "a copy to pageable memory"))
    return error;
  operation.work = [t] { give_to_host(t.to, t.from, t.bytes); };
  Gpus::get().enqueue(stream, std::move(operation));
  Gpus::get().host_waits(stream.clock);
  return 0;
}

}  // namespace

int copy(GpuStream& stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return 0;
  const auto& all = Gpus::get().allocations();
  const auto* target = all.find(reinterpret_cast<std::uintptr_t>(to));
  const auto* source = all.find(reinterpret_cast<std::uintptr_t>(from));
  const Transfer t{to, from, bytes};
  GpuOperation operation{"a copy to the device", accesses(t, target, source), {}, {}, false, 0};
  if (is_on_device(target) && !is_on_device(source))
    return copy_to_device(stream, t, std::move(operation), source);
  if (!is_on_device(target)) {
    operation.name = "a copy to the host";
    return copy_to_host(stream, t, std::move(operation), target);
  }
  count(Count::on_device);
  operation.name = "a copy on the device";
  operation.work = [t] { std::memmove(t.to, t.from, t.bytes); };
  return Gpus::get().enqueue(stream, std::move(operation));
}

namespace {

int set(GpuStream& stream, void* to, int value, std::size_t bytes) {
  if (bytes == 0) return 0;
  count(Count::memsets);
  return Gpus::get().enqueue(
      stream,
      {"a memset", {writes(to, bytes)}, [=] { std::memset(to, value, bytes); }, {}, false, 0});
}

// The synchronous forms are of the default stream, and the host waits.
int with_wait(int (*give)(GpuStream&, void*, const void*, std::size_t), void* to, const void* from,
              std::size_t bytes) {
  const LockedGpus gpus;
  if (const auto error = Captures::get().refuse_unsafe("cudaMemcpy")) return error;
  auto& stream = gpus->stream(nullptr);
  const auto error = give(stream, to, from, bytes);
  count(Count::stream_syncs);
  gpus->host_waits(stream.clock);
  return error;
}

}  // namespace
}  // namespace ddptrain::stand_in

namespace stand_in = ddptrain::stand_in;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return stand_in::result(stand_in::with_wait(stand_in::copy, to, from, bytes));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t handle) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::copy(gpus->stream(handle), to, from, bytes));
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t handle) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, handle);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t handle) {
  for (std::size_t row = 0; row < height; ++row) {
    const auto error =
        cudaMemcpyAsync(static_cast<char*>(to) + row * to_pitch,
                        static_cast<const char*>(from) + row * from_pitch, width, kind, handle);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::set(gpus->stream(handle), to, value, bytes));
}
}
