// Accelerate's rules: accelerate.data_loader and accelerate.state, version 1.15.
#include <algorithm>

#include "base/error.h"
#include "sources/order/layouts.h"
#include "sources/order/shard.h"

namespace ddptrain {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Rows joined(Batches::const_iterator first, Batches::const_iterator last) {
  Rows all;
  for (; first != last; ++first) all.insert(all.end(), first->begin(), first->end());
  return all;
}

/// Rows first .. first + count - 1, as far as there are any.
Rows piece(const Rows& rows, std::size_t first, std::size_t count) {
  first = std::min(first, rows.size());
  const auto last = std::min(first + count, rows.size());
  return Rows(rows.begin() + static_cast<std::ptrdiff_t>(first),
              rows.begin() + static_cast<std::ptrdiff_t>(last));
}

/// Appends rows of `pool`, from its beginning over and over, until there are `wanted`.
void complete(Rows& rows, const Rows& pool, std::size_t wanted) {
  for (std::size_t i = 0; rows.size() < wanted; ++i) rows.push_back(pool[i % pool.size()]);
}

/// How many batches of `all` stand in complete rounds.
std::size_t in_complete_rounds(const Batches& all, RankOf who, const Rounds& rounds) {
  auto complete = all.size();
  if (rounds.batch && !all.empty() && all.back().size() < index(*rounds.batch)) --complete;
  return complete - complete % index(who.world);
}

}  // namespace

Batches dealt(const Batches& all, RankOf who, const Rounds& rounds) {
  const auto world = index(who.world), rank = index(who.rank);
  const auto ready = in_complete_rounds(all, who, rounds);
  Batches mine;
  for (auto i = rank; i < ready; i += world) mine.push_back(all[i]);
  const auto rest = all.size() - ready;
  if (rest == 0 || rounds.drop_last) return mine;
  if (!rounds.even) {
    if (rank < rest) mine.push_back(all[ready + rank]);
  } else if (!rounds.batch) {
    const auto first_round = std::min(world, all.size());
    mine.push_back(rank < rest ? all[ready + rank] : all[(rank - rest) % first_round]);
  } else {
    const auto size = index(*rounds.batch);
    const auto first = all.begin();
    auto rows = joined(first + static_cast<std::ptrdiff_t>(ready), all.end());
    const auto round = static_cast<std::ptrdiff_t>(std::min(world, all.size()));
    complete(rows, joined(first, first + round), world * size);
    mine.push_back(piece(rows, rank * size, size));
  }
  return mine;
}

Batches split(const Batches& all, RankOf who, const Rounds& rounds) {
  DDP_CHECK(rounds.batch && *rounds.batch % who.world == 0, "batches must divide over the ranks");
  const auto size = index(*rounds.batch), each = size / index(who.world);
  Batches mine;
  for (auto rows : all) {
    if (rows.size() < size && rounds.drop_last) break;
    if (rounds.even) complete(rows, all.front(), size);
    auto part = piece(rows, index(who.rank) * each, each);
    if (!part.empty()) mine.push_back(std::move(part));
  }
  return mine;
}

Batches dispatched(const Batches& all, RankOf who, bool drop_last, bool split_batches) {
  const auto world = index(who.world);
  const auto round = split_batches ? 1 : world;
  Batches mine;
  Rows head;
  for (std::size_t first = 0; first < all.size(); first += round) {
    const auto last = std::min(first + round, all.size());
    if (drop_last && last - first < round) break;
    auto rows = joined(all.begin() + static_cast<std::ptrdiff_t>(first),
                       all.begin() + static_cast<std::ptrdiff_t>(last));
    if (first == 0) head = piece(rows, 0, world);
    const auto each = (rows.size() + world - 1) / world;
    if (rows.size() % world != 0) rows.insert(rows.end(), head.begin(), head.end());
    mine.push_back(piece(rows, index(who.rank) * each, each));
  }
  return mine;
}

Batches skip_first(Batches batches, std::int64_t count) {
  const auto skipped = std::min(index(count), batches.size());
  batches.erase(batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(skipped));
  return batches;
}

Rows split_between(std::int64_t length, RankOf who, bool pad) {
  const auto starts = cut(length, who.world);
  Rows rows;
  for (auto i = starts[index(who.rank)]; i < starts[index(who.rank + 1)]; ++i) rows.push_back(i);
  if (pad && length > 0) rows.resize(index(starts[1]), length - 1);
  return rows;
}

}  // namespace ddptrain
