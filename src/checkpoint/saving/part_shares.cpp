#include "checkpoint/saving/part_shares.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "checkpoint/block_checksums.h"

namespace ddptrain {
namespace {

std::int64_t bytes_in(const CheckpointParts& parts) {
  std::int64_t bytes = 0;
  for (const auto& file : kTensorFiles)
    for (const auto& part : parts.*file.parts)
      bytes += static_cast<std::int64_t>(part.elements.nbytes());
  return bytes;
}

/// Where the bytes of a writer begin, of all tensors one behind another.
std::int64_t beginning(std::int64_t bytes, std::int64_t rank, std::int64_t writers) {
  const auto blocks = (bytes + kBlockBytes - 1) / kBlockBytes;
  return std::min(bytes, (blocks * rank + writers - 1) / writers * kBlockBytes);
}

/// The elements of a part whose bytes lie in [begin, end) of it; nothing where there are none.
std::optional<TensorPart> cut(const TensorPart& part, std::int64_t begin, std::int64_t end) {
  const auto width = static_cast<std::int64_t>(part.elements.element_size());
  const auto count = part.elements.numel();
  const auto from = std::clamp(begin / width, std::int64_t{0}, count);
  const auto to = std::clamp(end / width, std::int64_t{0}, count);
  if (from == 0 && to == count && count > 0) return part;
  if (from >= to) return {};
  auto own = part;
  own.first += from;
  own.elements = part.elements.detach().reshape({-1}).narrow(0, from, to - from);
  return own;
}

}  // namespace

CheckpointParts share_of(const CheckpointParts& whole, int rank, int writers) {
  const auto bytes = bytes_in(whole);
  const auto begin = beginning(bytes, rank, writers), end = beginning(bytes, rank + 1, writers);
  CheckpointParts own;
  own.step = whole.step;
  if (rank == 0) own.state = whole.state;
  std::int64_t at = 0;
  for (const auto& file : kTensorFiles)
    for (const auto& part : whole.*file.parts) {
      const auto size = static_cast<std::int64_t>(part.elements.nbytes());
      if (size == 0 && rank == 0) (own.*file.parts).push_back(part);
      if (auto piece = size == 0 ? std::nullopt : cut(part, begin - at, end - at))
        (own.*file.parts).push_back(std::move(*piece));
      at += size;
    }
  return own;
}

}  // namespace ddptrain
