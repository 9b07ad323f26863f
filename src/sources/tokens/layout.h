// Documents as samples of a language model: which tokens each sample reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sources/tokens/block_options.h"
#include "sources/tokens/pieces.h"

namespace ddptrain {

/// The documents of a split.
struct LayoutContext {
  std::vector<std::int64_t> lengths;  // tokens of each document; 0: it is left out
  std::function<std::string(std::int64_t document)> name;  // for messages
  std::string split = "train";                             // for messages
  std::int64_t rows = 1;   // of a batch: streams. Of training a global one
  bool shuffled = false;   // streams: the documents of an epoch are in an order of its own
  std::uint64_t seed = 0;  // of that order
};

/// Samples 0 .. samples() - 1. They depend on seed, epoch and rows, not on the number of ranks.
/// Safe to use from many threads.
class TokenLayout {
 public:
  virtual ~TokenLayout() = default;
  virtual std::int64_t samples() const = 0;
  /// Tokens that a sample reads.
  virtual std::int64_t length(std::int64_t sample) const = 0;
  /// What it reads in an epoch, in order. Under streams and shuffled one token more: the target of
  /// the last one. Packed documents are pieces of their own, each of which learns its own tokens.
  virtual std::vector<Piece> pieces(std::int64_t sample, std::int64_t epoch) const = 0;
  virtual std::string name(std::int64_t sample) const = 0;
  /// Tokens that no sample reads or learns.
  virtual std::int64_t left_out() const = 0;
};

/// An Error (Exit::data) where a split has too few tokens for one batch of streams or one block, or
/// where a document is longer than a block under `long: error`. A split without documents has no
/// samples.
std::unique_ptr<TokenLayout> make_layout(const BlockOptions& options, LayoutContext context);

}  // namespace ddptrain
