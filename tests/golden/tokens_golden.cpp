// Samples of a language model: fastai's LMDataLoader, trl's packing.
#include <gtest/gtest.h>

#include <numeric>

#include "sources/tokens/layout.h"
#include "sources/tokens/packing.h"
#include "support/golden.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;
using Lengths = std::vector<std::int64_t>;

/// Documents that are the whole numbers from 0 on: where each begins.
Lengths beginnings(const Lengths& lengths) {
  Lengths begins(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), std::int64_t{0});
  return begins;
}

Lengths numbers_of(const std::vector<Piece>& pieces, const Lengths& begins) {
  Lengths numbers;
  for (const auto& piece : pieces)
    for (std::int64_t i = 0; i < piece.length; ++i)
      numbers.push_back(begins[static_cast<std::size_t>(piece.document)] + piece.first + i);
  return numbers;
}

json as_json(const PackedBlock& block) {
  json pieces;
  for (const auto& piece : block) pieces.push_back({piece.document, piece.first, piece.length});
  return pieces;
}

std::vector<PackedBlock> wrapped(const JoinedDocuments& joined, std::int64_t block) {
  std::vector<PackedBlock> blocks;
  for (std::int64_t first = 0; first < joined.tokens(); first += block)
    blocks.push_back(joined.pieces(first, std::min(block, joined.tokens() - first)));
  return blocks;
}

std::vector<PackedBlock> packed(const std::string& rule, const Lengths& lengths,
                                std::int64_t block) {
  if (rule == "wrapped") return wrapped(JoinedDocuments(lengths), block);
  return best_fit_decreasing(
      rule == "bfd" ? cut_documents(lengths, block) : split_documents(lengths, block), block);
}

}  // namespace

GOLDEN(tabular_text, lm_loader) {
  LayoutContext context;
  context.lengths = c.input.at("document_lengths").get<Lengths>();
  context.rows = c.input.at("batch");
  const auto begins = beginnings(context.lengths);
  BlockOptions options;
  options.length = c.input.at("seq_len");
  const auto rows = context.rows;
  if (c.expect.contains("error_in_peer")) {
    EXPECT_ANY_THROW(make_layout(options, std::move(context)));
    return;
  }
  const auto layout = make_layout(options, std::move(context));
  const auto& batches = c.expect.at("batches");
  ASSERT_EQ(layout->samples(), rows * std::ssize(batches));
  EXPECT_EQ(std::ssize(batches), c.expect.at("n_batches"));
  for (std::int64_t sample = 0; sample < layout->samples(); ++sample) {
    const auto& batch = batches.at(static_cast<std::size_t>(sample / rows));
    const auto row = static_cast<std::size_t>(sample % rows);
    auto x = numbers_of(layout->pieces(sample, 0), begins);
    const Lengths y(x.begin() + 1, x.end());
    x.pop_back();
    EXPECT_EQ(json(x), batch.at("x").at(row)) << sample;
    EXPECT_EQ(json(y), batch.at("y").at(row)) << sample;
    EXPECT_EQ(layout->length(sample), std::ssize(x)) << sample;
  }
  EXPECT_EQ(layout->length(layout->samples() - 1), c.expect.at("last_len"));
}

GOLDEN(language_models, packing) {
  const auto lengths = c.input.at("lengths").get<Lengths>();
  const std::int64_t block = c.input.at("block");
  const auto blocks = packed(c.input.at("rule"), lengths, block);
  json pieces;
  std::int64_t tokens = 0;
  for (const auto& each : blocks) {
    pieces.push_back(as_json(each));
    for (const auto& piece : each) tokens += piece.length;
  }
  EXPECT_EQ(pieces, c.expect.at("blocks"));
  EXPECT_EQ(std::reduce(lengths.begin(), lengths.end()) - tokens, c.expect.at("dropped"));
  EXPECT_EQ(std::ssize(blocks) * block - tokens, c.expect.at("padding"));
}

}  // namespace ddptrain::golden
