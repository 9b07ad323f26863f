#include "data/mix/mixing.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <map>

namespace ddptrain {
namespace {

using Tensors = std::vector<at::Tensor>;

Tensors rows_of(const Tensors& inputs, std::size_t row) {
  Tensors rows;
  for (const auto& input : inputs) rows.push_back(input.select(0, static_cast<std::int64_t>(row)));
  return rows;
}

Tensors copies(const Tensors& rows) {
  Tensors copied;
  for (const auto& row : rows) copied.push_back(row.clone());  // keeps the layout
  return copied;
}

MixDraws draws(const MixKey& key, std::int64_t position) {
  const auto purpose = mix(key.seed, hash_text("data mix"));
  const auto epoch = static_cast<std::uint64_t>(key.epoch);
  const auto batch = static_cast<std::uint64_t>(position / key.batch);
  return {Stream(mix(purpose, hash_text("row")), epoch, static_cast<std::uint64_t>(position)),
          Stream(mix(purpose, hash_text("batch")), epoch, batch)};
}

at::Tensor whole_numbers(const std::vector<std::size_t>& numbers) {
  auto tensor = at::empty({static_cast<std::int64_t>(numbers.size())}, at::kLong);
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data_ptr<std::int64_t>());
  return tensor;
}

}  // namespace

std::int64_t partner_of(std::int64_t position, std::int64_t batch, std::int64_t length) {
  const auto first = position / batch * batch;
  const auto other = first + ((position - first) ^ 1);
  return other < std::min(first + batch, length) ? other : position;
}

MixedRows with_partners(const std::vector<std::int64_t>& positions, std::int64_t batch,
                        std::int64_t length) {
  MixedRows rows{positions, {}};
  for (const auto position : positions) {
    const auto partner = partner_of(position, batch, length);
    auto found = std::find(rows.positions.begin(), rows.positions.end(), partner);
    if (found == rows.positions.end()) found = rows.positions.insert(rows.positions.end(), partner);
    rows.partner.push_back(static_cast<std::size_t>(found - rows.positions.begin()));
  }
  return rows;
}

void mix_rows(const Mix& mix, const MixKey& key, const MixedRows& rows,
              const std::vector<char>& bad, Batch& batch) {
  const auto count = rows.partner.size();
  auto shares = at::empty({static_cast<std::int64_t>(count)}, at::kDouble);
  auto partner = rows.partner;
  std::vector<std::size_t> last_use(rows.positions.size(), 0);
  for (std::size_t row = 0; row < count; ++row) last_use[rows.partner[row]] = row;
  std::map<std::size_t, Tensors> before;  // of rows that are mixed and still somebody's partner
  for (std::size_t row = 0; row < count; ++row) {
    const auto other = rows.partner[row];
    double& share = shares.mutable_data_ptr<double>()[row];
    share = 1;
    if (other == row || bad[row] || bad[other]) {
      partner[row] = row;
      continue;
    }
    const auto own = rows_of(batch.inputs, row);
    if (last_use[row] > row) before[row] = copies(own);
    const auto kept = before.find(other);
    auto drawn = draws(key, rows.positions[row]);
    share = mix.mix(own, kept == before.end() ? rows_of(batch.inputs, other) : kept->second, drawn);
    if (kept != before.end() && last_use[other] == row) before.erase(kept);
  }
  Batch mixed = slice(batch, 0, static_cast<std::int64_t>(count));
  for (const auto& target : batch.targets)
    mixed.targets.push_back(at::index_select(target, 0, whole_numbers(partner)));
  mixed.targets.push_back(std::move(shares));
  batch = std::move(mixed);
}

}  // namespace ddptrain
