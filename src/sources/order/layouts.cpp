// fastai's and PyTorch's rules.
#include "sources/order/layouts.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "sources/order/shard.h"

namespace ddptrain {

Batches batched(std::int64_t length, std::int64_t batch, bool drop_last) {
  Rows all(static_cast<std::size_t>(length));
  std::iota(all.begin(), all.end(), 0);
  return batched(all, batch, drop_last);
}

Batches batched(const Rows& rows, std::int64_t batch, bool drop_last) {
  DDP_CHECK(batch > 0, "a batch has rows");
  Batches batches;
  const auto size = static_cast<std::size_t>(batch);
  for (std::size_t first = 0; first < rows.size(); first += size) {
    const auto last = std::min(first + size, rows.size());
    if (drop_last && last - first < size) break;
    batches.emplace_back(rows.begin() + static_cast<std::ptrdiff_t>(first),
                         rows.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return batches;
}

Rows contiguous_rows(std::int64_t length, RankOf who) {
  const auto each = (length + who.world - 1) / who.world;
  Rows rows;
  for (auto slot = who.rank * each; slot < (who.rank + 1) * each; ++slot)
    rows.push_back(slot % length);
  return rows;
}

Rows interleaved_rows(std::int64_t length, RankOf who, bool pad) {
  const auto each = pad ? (length + who.world - 1) / who.world : length / who.world;
  Rows rows;
  for (std::int64_t i = 0; i < each; ++i) rows.push_back((i * who.world + who.rank) % length);
  return rows;
}

std::vector<std::int64_t> scatter_sizes(std::int64_t count, std::int64_t devices) {
  std::vector<std::int64_t> sizes;
  const auto each = (count + devices - 1) / devices;
  for (auto left = count; left > 0; left -= each) sizes.push_back(std::min(each, left));
  return sizes;
}

}  // namespace ddptrain
