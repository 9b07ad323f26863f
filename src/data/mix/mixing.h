// Who is mixed with whom, and when: not a matter of ranks, replicas or loading threads.
#pragma once

#include <cstdint>
#include <vector>

#include "data/mix.h"

namespace ddptrain {

/// The partner of position p of an epoch's order is its neighbor: within each global batch of
/// `batch` rows the first and second are a pair, the third and fourth, and so on; orders being
/// random, so are the pairs. The last of an odd number stays alone: its own position is returned.
std::int64_t partner_of(std::int64_t position, std::int64_t batch, std::int64_t length);

/// A micro-batch and the partners that are not among its rows, loaded behind them. partner[i] is
/// the row of i's partner, i itself for one that stays alone.
struct MixedRows {
  std::vector<std::int64_t> positions;
  std::vector<std::size_t> partner;
};
MixedRows with_partners(const std::vector<std::int64_t>& positions, std::int64_t batch,
                        std::int64_t length);

/// Where draws come from.
struct MixKey {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t batch = 1;  // rows of a global batch
};

/// Mixes the first partner.size() rows of a batch with their partners and leaves the rows behind
/// them out. A bad partner leaves its row as it is. The targets become {targets, those of the
/// partners, the share of the row's own} (losses/loss.h). Images that are bytes are mixed by bytes
/// where that is to paste them, otherwise where the model is: PixelScale says what they bring.
void mix_rows(const Mix& mix, const MixKey& key, const MixedRows& rows,
              const std::vector<char>& bad, Batch& batch);

}  // namespace ddptrain
