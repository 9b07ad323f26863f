#include "data/mix/mixing.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>

#include "data/mix/blend.h"

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

/// Whom each row is mixed with, itself where it stays alone, and how.
struct Drawn {
  std::vector<std::size_t> partner;
  std::vector<RowMix> mixes;
};

Drawn draw_all(const Mix& mix, const MixKey& key, const MixedRows& rows,
               const std::vector<char>& bad, const Tensors& inputs) {
  Drawn drawn{rows.partner, std::vector<RowMix>(rows.partner.size())};
  for (std::size_t row = 0; row < rows.partner.size(); ++row) {
    auto& other = drawn.partner[row];
    if (other == row || bad[row] || bad[other]) {
      other = row;
      continue;
    }
    auto random = draws(key, rows.positions[row]);
    drawn.mixes[row] = mix.draw(rows_of(inputs, row), random);
  }
  return drawn;
}

void mix_here(const Drawn& drawn, const Tensors& inputs) {
  const auto rows = drawn.partner.size();
  std::map<std::size_t, std::size_t> last_use;
  for (std::size_t row = 0; row < rows; ++row) last_use[drawn.partner[row]] = row;
  std::map<std::size_t, Tensors> before;  // of rows that are mixed and still another row's partner
  for (std::size_t row = 0; row < rows; ++row) {
    const auto other = drawn.partner[row];
    if (drawn.mixes[row].how == RowMix::How::nothing) continue;
    const auto own = rows_of(inputs, row);
    const auto use = last_use.find(row);
    if (use != last_use.end() && use->second > row) before[row] = copies(own);
    const auto kept = before.find(other);
    mix_row(drawn.mixes[row], own, kept == before.end() ? rows_of(inputs, other) : kept->second);
    if (kept != before.end() && last_use[other] == row) before.erase(kept);
  }
}

bool is_pinned(const at::Tensor& tensor) { return tensor.numel() > 0 && tensor.is_pinned(); }

/// Those rows of a tensor whose rows are blocks of memory, in memory of its kind.
at::Tensor chosen_rows(const at::Tensor& from, const std::vector<std::size_t>& rows) {
  auto sizes = from.sizes().vec();
  sizes[0] = std::ssize(rows);
  const auto options = from.options().pinned_memory(is_pinned(from));
  auto to = at::empty_strided(sizes, from.strides(), options);
  const auto bytes = static_cast<std::size_t>(from.stride(0)) * from.itemsize();
  const auto* first = static_cast<const char*>(from.const_data_ptr());
  auto* next = static_cast<char*>(to.mutable_data_ptr());
  for (const auto row : rows) {
    std::memcpy(next, first + row * bytes, bytes);
    next += bytes;
  }
  return to;
}

/// The box within which a row is mixed, top, left, bottom, right, and the weight of its own pixels
/// there.
std::array<float, 5> mix_of_pixels(const RowMix& mix, const at::Tensor& images) {
  const auto number = [](std::int64_t place) { return static_cast<float>(place); };
  const auto& patch = mix.patch;
  switch (mix.how) {
    case RowMix::How::blend:
      return {0, 0, number(images.size(2)), number(images.size(3)), static_cast<float>(mix.share)};
    case RowMix::How::paste:
      return {number(patch.top), number(patch.left), number(patch.bottom), number(patch.right), 0};
    case RowMix::How::nothing:
      break;
  }
  return {};
}

/// Behind the inputs of images: those of the partners, and how they are mixed.
void add_partners(const Drawn& drawn, const Tensors& all, Tensors& inputs) {
  for (const auto& input : all) inputs.push_back(chosen_rows(input, drawn.partner));
  const auto mixes = at::empty({std::ssize(drawn.mixes), 5},
                               at::TensorOptions(at::kFloat).pinned_memory(is_pinned(all[0])));
  auto* next = mixes.mutable_data_ptr<float>();
  for (const auto& mix : drawn.mixes)
    next = std::ranges::copy(mix_of_pixels(mix, all[0]), next).out;
  inputs.push_back(mixes);
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
  const auto count = std::ssize(rows.partner);
  const auto drawn = draw_all(mix, key, rows, bad, batch.inputs);
  const bool later = batch.pixels && (mix.blends() || batch.inputs.size() > 1);
  if (!later) mix_here(drawn, batch.inputs);
  Batch mixed = slice(batch, 0, count);
  if (later) add_partners(drawn, batch.inputs, mixed.inputs);
  for (const auto& target : batch.targets)
    mixed.targets.push_back(at::index_select(target, 0, whole_numbers(drawn.partner)));
  auto shares = at::empty({count}, at::kDouble);
  std::ranges::transform(drawn.mixes, shares.mutable_data_ptr<double>(), &RowMix::share);
  mixed.targets.push_back(std::move(shares));
  batch = std::move(mixed);
}

}  // namespace ddptrain
