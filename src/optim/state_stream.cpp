#include "optim/state_stream.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "optim/state_chunks.h"

namespace ddptrain {
namespace {

c10::Stream new_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type())
      .getStreamFromGlobalPool(device, /*isHighPriority=*/false);
}

}  // namespace

StateStream::StateStream(at::Device device, HostMemory memory, const StreamOptions& options)
    : device_(device),
      memory_(std::move(memory)),
      options_(options),
      in_(new_stream(device)),
      out_(new_stream(device)),
      sides_{Side(device), Side(device)} {}

StateStream::~StateStream() {
  try {
    wait();
  } catch (const std::exception&) {  // a device that failed copies no more
  }
}

at::Tensor StateStream::host(std::int64_t bytes) const {
  if (bytes == 0) return at::empty({0}, at::kByte);
  auto memory = std::make_shared<c10::DataPtr>(memory_(bytes));
  auto* const data = memory->get();
  return at::from_blob(
      data, {bytes}, [memory](void*) {}, at::TensorOptions(at::kByte));
}

void StateStream::expect(std::int64_t all, std::int64_t largest) {
  DDP_CHECK(!sides_[0].bytes.defined(), "buffers are made for all that is expected");
  const auto half = aligned_bytes((all + 1) / 2);
  buffer_bytes_ = std::max({buffer_bytes_, largest, std::min(half, options_.buffer_bytes)});
}

at::Tensor StateStream::buffer(std::size_t chunk) {
  const auto here = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  for (auto& side : sides_) {
    if (side.bytes.defined()) continue;
    side.bytes = at::empty({buffer_bytes_}, at::TensorOptions(device_).dtype(at::kByte));
    for (const auto stream : {in_, out_}) side.bytes.record_stream(stream);
    side.left.record(here);  // which may still write what had this memory before
  }
  return sides_[chunk % sides_.size()].bytes;
}

void StateStream::bring(const Copies& chunk, Side& side) {
  side.left.block(in_);
  const c10::StreamGuard there(in_);
  for (const auto& copy : chunk) copy.there.copy_(copy.host, /*non_blocking=*/true);
  side.arrived.record(in_);
}

void StateStream::give_back(const Copies& chunk, Side& side) {
  side.computed.block(out_);
  const c10::StreamGuard there(out_);
  for (const auto& copy : chunk) copy.host.copy_(copy.there, /*non_blocking=*/true);
  side.left.record(out_);
}

void StateStream::run(const std::vector<Copies>& chunks,
                      const std::function<void(std::size_t)>& compute) {
  if (chunks.empty()) return;
  const at::NoGradGuard no_grad;
  const auto here = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  const auto side_of = [this](std::size_t chunk) -> Side& { return sides_[chunk % sides_.size()]; };
  // Another way of cutting may have brought a chunk through the other buffer.
  if (has_run_)
    for (auto& side : sides_) side.left.block(in_);
  bring(chunks[0], side_of(0));
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    if (k + 1 < chunks.size()) bring(chunks[k + 1], side_of(k + 1));
    auto& side = side_of(k);
    side.arrived.block(here);
    compute(k);
    side.computed.record(here);
    give_back(chunks[k], side);
  }
  has_run_ = true;
}

void StateStream::wait() {
  for (const auto& side : sides_) side.left.synchronize();
}

}  // namespace ddptrain
