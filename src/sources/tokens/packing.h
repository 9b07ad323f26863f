// Whole documents in blocks of one size (trl's pack_dataset).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sources/tokens/pieces.h"

namespace ddptrain {

using PackedBlock = std::vector<Piece>;  // at most `block` tokens together

/// Best fit decreasing: the longest first, equally long ones in order, each into the fullest block
/// that has room, of equal ones the one that has had that room longest. O(n log n). No piece is
/// longer than `block`, none is empty.
std::vector<PackedBlock> best_fit_decreasing(std::span<const Piece> pieces, std::int64_t block);

/// Documents that have tokens, each a piece: without what is behind `block` tokens, or cut there
/// into several.
std::vector<Piece> cut_documents(std::span<const std::int64_t> lengths, std::int64_t block);
std::vector<Piece> split_documents(std::span<const std::int64_t> lengths, std::int64_t block);

}  // namespace ddptrain
