// Orders that put samples of nearly equal length into the same batch.
#pragma once

#include <cstdint>
#include <vector>

namespace ddptrain {

/// What an epoch's order is made of.
struct LengthOrder {
  std::int64_t batch = 1;                 // samples of a global batch
  std::int64_t chunk = 1;                 // batches that are sorted together
  std::vector<std::int64_t> permutation;  // of all samples
};

/// How many batches the functions below shuffle: the length of `shuffled`.
std::int64_t balanced_batches(std::int64_t samples, std::int64_t batch);
std::int64_t fastai_batches(std::int64_t samples, std::int64_t batch);

/// Ours. What is left over after whole batches is drawn first and comes last, so that `drop_last`
/// leaves out samples of all lengths. The batch with the longest sample comes first. Inside of a
/// batch, every contiguous part has nearly the same number of tokens.
std::vector<std::int64_t> balanced_order(const std::vector<std::int64_t>& lengths,
                                         const LengthOrder& parts,
                                         const std::vector<std::int64_t>& shuffled);

/// fastai.text.data.SortedDL.shuffle_fn (50 batches to a chunk there): the longest sample is in the
/// first batch, the incomplete batch last, those between are shuffled.
std::vector<std::int64_t> fastai_order(const std::vector<std::int64_t>& lengths, LengthOrder parts,
                                       const std::vector<std::int64_t>& shuffled);

/// Samples by falling length, equally long ones in order.
std::vector<std::int64_t> falling_order(const std::vector<std::int64_t>& lengths);

}  // namespace ddptrain
