// The rules by which fastai, PyTorch and Accelerate deal an order to ranks, as functions of
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ddptrain {

using Rows = std::vector<std::int64_t>;  // positions in an epoch's order
using Batches = std::vector<Rows>;

struct RankOf {
  std::int64_t rank = 0;
  std::int64_t world = 1;
};

/// torch.utils.data.BatchSampler over positions 0 .. length-1, or over rows.
Batches batched(std::int64_t length, std::int64_t batch, bool drop_last);
Batches batched(const Rows& rows, std::int64_t batch, bool drop_last);

/// fastai.distributed.DistributedDL (2.0.14 and later): the order is padded with its own head,
/// repeated when needed, to a multiple of the world; a rank takes its contiguous slice.
Rows contiguous_rows(std::int64_t length, RankOf who);

/// torch.utils.data.DistributedSampler, and fastai before 2.0.14: a rank takes every world-th row.
/// With `pad` the order is first padded as above, otherwise its incomplete round is left out.
Rows interleaved_rows(std::int64_t length, RankOf who, bool pad);

/// What the rounds of Accelerate's shards do at the end of an epoch.
struct Rounds {
  std::optional<std::int64_t> batch;  // rows of a complete batch; none: batches vary
  bool drop_last = false;
  bool even = true;  // complete the last round with rows of the first one
};

/// accelerate.data_loader.BatchSamplerShard: whole batches dealt round-robin. IterableDatasetShard
/// gives the same rows (with `even`).
Batches dealt(const Batches& all, RankOf who, const Rounds& rounds);

/// BatchSamplerShard with split_batches: a piece of every batch; `rounds.batch` must be given and
/// be a multiple of the world.
Batches split(const Batches& all, RankOf who, const Rounds& rounds);

/// accelerate.data_loader.DataLoaderDispatcher: rank 0 reads and sends. Rounds of `world` batches
/// (with `split_batches`: of one) are cut evenly; the last is completed from the head of the first
/// by at most one row a rank, so that with fewer rows than ranks some get none.
Batches dispatched(const Batches& all, RankOf who, bool drop_last, bool split_batches);

/// accelerate.skip_first_batches.
Batches skip_first(Batches batches, std::int64_t count);

/// accelerate.PartialState.split_between_processes on 0 .. length-1: contiguous pieces, larger
/// first; with `pad` the shorter ones repeat the last row of all.
Rows split_between(std::int64_t length, RankOf who, bool pad);

/// Rows of each device under torch.nn.DataParallel (torch.chunk): ceil(count / devices) until used
/// up, possibly on fewer devices than given.
std::vector<std::int64_t> scatter_sizes(std::int64_t count, std::int64_t devices);

}  // namespace ddptrain
