#include "distributed/sharding/flat.h"

#include <algorithm>
#include <cstdlib>

namespace ddptrain {
namespace {

/// Elements, at whose multiples a parameter may begin.
std::int64_t unit_of(const at::Tensor& parameter, Room room, std::int64_t element_bytes) {
  const auto bytes = element_bytes > 0 ? element_bytes : parameter.element_size();
  if (!parameter.is_cpu()) return 256 / bytes;
  return room == Room::aligned ? 64 / bytes : 1;
}

std::int64_t rounded_up(std::int64_t elements, std::int64_t unit) {
  return (elements + unit - 1) / unit * unit;
}

/// The beginning of a member, or the end, that is nearest to an element.
std::int64_t nearest_border(const Flat& flat, std::int64_t element) {
  auto nearest = flat.elements;
  for (const auto first : flat.first)
    if (std::abs(first - element) <= std::abs(nearest - element)) nearest = first;
  return nearest;
}

}  // namespace

Flat flat_of(const std::vector<NamedTensor>& parameters, std::vector<std::size_t> members,
             Room room, std::int64_t element_bytes) {
  Flat flat;
  flat.members = std::move(members);
  for (const auto i : flat.members) {
    const auto& parameter = parameters[i].tensor;
    flat.first.push_back(flat.elements);
    flat.lengths.push_back(parameter.numel());
    flat.elements += rounded_up(parameter.numel(), unit_of(parameter, room, element_bytes));
  }
  return flat;
}

void cut(Flat& flat, const std::vector<NamedTensor>& parameters, int ranks, CutAt at,
         std::int64_t element_bytes) {
  if (flat.members.empty()) {
    flat.cuts.assign(static_cast<std::size_t>(ranks) + 1, 0);
    return;
  }
  const auto& first = parameters[flat.members.front()].tensor;
  const auto unit = unit_of(first, Room::aligned, element_bytes);
  if (at == CutAt::any_element) {
    if (!first.is_cpu()) flat.elements = rounded_up(flat.elements, unit * ranks);
    flat.cuts = even_cuts(flat.elements, ranks, unit);
    return;
  }
  flat.cuts = {0};
  for (std::int64_t r = 1; r < ranks; ++r)
    flat.cuts.push_back(
        std::max(flat.cuts.back(), nearest_border(flat, flat.elements * r / ranks)));
  flat.cuts.push_back(flat.elements);
}

Flat with_those(const Flat& flat, const std::vector<NamedTensor>& parameters,
                const std::vector<bool>& kept, Room room) {
  std::vector<std::size_t> places;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < flat.members.size(); ++i)
    if (kept[flat.members[i]]) {
      places.push_back(i);
      members.push_back(flat.members[i]);
    }
  auto made = flat_of(parameters, std::move(members), room);
  for (const auto cut : flat.cuts) {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto past = cut - flat.first[places[i]];
      if (past > 0) before = made.first[i] + std::min(past, made.lengths[i]);
    }
    made.cuts.push_back(before);
  }
  if (!made.cuts.empty()) made.cuts.back() = made.elements;
  return made;
}

at::Tensor view_of(const at::Tensor& buffer, const Flat& flat, std::size_t i,
                   const at::Tensor& parameter) {
  return buffer.as_strided(parameter.sizes(), parameter.strides(),
                           buffer.storage_offset() + flat.first[i]);
}

ShardPiece piece_of(const Flat& flat, std::size_t i, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  const auto first = std::clamp(flat.first[i], flat.cuts[r], flat.cuts[r + 1]);
  const auto last = std::clamp(flat.first[i] + flat.lengths[i], flat.cuts[r], flat.cuts[r + 1]);
  ShardPiece piece{first, first - flat.cuts[r], std::max<std::int64_t>(first - flat.first[i], 0),
                   last - first};
  if (piece.elements <= 0) return {flat.cuts[r], 0, 0, 0};
  return piece;
}

at::Tensor in_memory_order(const at::Tensor& tensor) {
  return tensor.as_strided({tensor.numel()}, {1}, tensor.storage_offset());
}

}  // namespace ddptrain
