// State in the host's memory on its way through a device.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/Event.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "recipe/recipe.h"

namespace ddptrain {

struct StreamOptions {
  std::int64_t buffer_bytes = kStateBuffer;
  bool divides_parameters = true;  // those that optimizers look at as a whole are not divided
};

/// Two buffers of a device, and a stream of copies in each direction: while the device computes
/// with one chunk, the next is on its way there, and the one before on its way back. Events order
/// them; the host waits in wait() alone.
class StateStream {
 public:
  /// Pinned memory of the host.
  using HostMemory = std::function<c10::DataPtr(std::int64_t bytes)>;
  /// Bytes of the host, pinned, and as many of a buffer.
  struct Copy {
    at::Tensor host, there;
  };
  using Copies = std::vector<Copy>;

  /// `device` is not the CPU.
  StateStream(at::Device device, HostMemory memory, const StreamOptions& options = {});
  ~StateStream();
  StateStream(const StateStream&) = delete;
  StateStream& operator=(const StateStream&) = delete;

  const StreamOptions& options() const { return options_; }
  /// Pinned memory, [bytes], whose values are arbitrary.
  at::Tensor host(std::int64_t bytes) const;

  /// An owner has `all` bytes of state, of which `largest` must be there at once. Before the first
  /// step. A buffer has room for half of all, at most StreamOptions::buffer_bytes, and at least for
  /// the largest.
  void expect(std::int64_t all, std::int64_t largest);
  /// Of one buffer; the device has two.
  std::int64_t buffer_bytes() const { return buffer_bytes_; }
  /// That of a chunk, by its place in run(), [buffer_bytes()].
  at::Tensor buffer(std::size_t chunk);

  /// For each chunk: copies it there, calls `compute` on the current stream, and copies it back.
  void run(const std::vector<Copies>& chunks, const std::function<void(std::size_t)>& compute);
  /// Until the host has what was copied back.
  void wait();

 private:
  struct Side {  // a buffer
    explicit Side(at::Device device)
        : arrived(device.type()), computed(device.type()), left(device.type()) {}
    at::Tensor bytes;
    c10::Event arrived, computed, left;
  };

  void bring(const Copies& chunk, Side& side);
  void give_back(const Copies& chunk, Side& side);

  at::Device device_;
  HostMemory memory_;
  StreamOptions options_;
  c10::Stream in_, out_;
  std::array<Side, 2> sides_;
  std::int64_t buffer_bytes_ = 0;
  bool has_run_ = false;
};

}  // namespace ddptrain
