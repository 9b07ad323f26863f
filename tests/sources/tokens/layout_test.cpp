#include "sources/tokens/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "sources/tokens/packing.h"
#include "sources/tokens/streams.h"
#include "sources/tokens/token_documents.h"
#include "support/processor_seconds.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

LayoutContext documents_of(Numbers lengths, std::int64_t rows = 1) {
  LayoutContext context;
  context.lengths = std::move(lengths);
  context.rows = rows;
  context.name = [](std::int64_t document) { return "text " + std::to_string(document); };
  return context;
}

/// Lengths from 0 to 49, some documents empty.
Numbers many_lengths(std::int64_t count) {
  Stream random(3, 0);
  Numbers lengths(static_cast<std::size_t>(count));
  for (auto& length : lengths) length = static_cast<std::int64_t>(random.below(50));
  return lengths;
}

/// How often each token of the documents is a target.
std::vector<Numbers> target_counts(const TokenLayout& layout, const Numbers& lengths,
                                   std::int64_t epoch) {
  std::vector<Numbers> counts;
  for (const auto length : lengths) counts.emplace_back(length);
  for (std::int64_t sample = 0; sample < layout.samples(); ++sample) {
    bool first = true;
    for (const auto& piece : layout.pieces(sample, epoch))
      for (auto i = piece.first; i < piece.first + piece.length; ++i, first = false)
        if (!first) ++counts[static_cast<std::size_t>(piece.document)][static_cast<std::size_t>(i)];
  }
  return counts;
}

std::string complaint_of(const BlockOptions& options, const LayoutContext& context) {
  try {
    make_layout(options, context);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(JoinedDocuments, AreReadAcrossTheirEnds) {
  const JoinedDocuments joined(Numbers{3, 0, 2, 4}, Numbers{3, 1, 0, 2});
  EXPECT_EQ(joined.tokens(), 9);
  EXPECT_THAT(joined.pieces(0, 9), ElementsAre(Piece{3, 0, 4}, Piece{0, 0, 3}, Piece{2, 0, 2}));
  EXPECT_THAT(joined.pieces(4, 2), ElementsAre(Piece{0, 0, 2}));
  EXPECT_THAT(joined.pieces(6, 2), ElementsAre(Piece{0, 2, 1}, Piece{2, 0, 1}));
  EXPECT_TRUE(joined.pieces(9, 0).empty());
}

// 23 tokens have 22 targets: 7 for each of 3 streams, in pieces of 4 and 3.
TEST(StreamLayout, LeavesOutLessThanATokenForEachRow) {
  const Streams streams(23, 3, 4);
  EXPECT_EQ(streams.row_tokens(), 7);
  EXPECT_EQ(streams.samples(), 6);
  EXPECT_EQ(streams.left_out(), 1);
  EXPECT_EQ(streams.length(2), 4);
  EXPECT_EQ(streams.length(3), 3);
  EXPECT_EQ(streams.first(4), 7 + 4);
}

TEST(StreamLayout, ContinuesARowWhereTheBatchBeforeEnded) {
  auto context = documents_of(many_lengths(300), 7);
  context.shuffled = true;
  BlockOptions options;
  options.length = 11;
  const auto layout = make_layout(options, context);
  for (std::int64_t sample = 7; sample < layout->samples(); ++sample) {
    const auto before = layout->pieces(sample - 7, 2), here = layout->pieces(sample, 2);
    // The last target of a row is the first token of the next.
    EXPECT_EQ(before.back().document, here.front().document);
    EXPECT_EQ(before.back().first + before.back().length - 1, here.front().first);
  }
}

TEST(StreamLayout, LearnsEveryTokenOnceInAnyEpoch) {
  auto context = documents_of(many_lengths(300), 8);
  context.shuffled = true;
  const auto layout = make_layout({}, context);
  const auto tokens = std::reduce(context.lengths.begin(), context.lengths.end());
  for (const std::int64_t epoch : {0, 1, 5}) {
    std::int64_t learned = 0;
    for (const auto& document : target_counts(*layout, context.lengths, epoch))
      for (const auto count : document) {
        EXPECT_LE(count, 1);
        learned += count;
      }
    EXPECT_EQ(learned, tokens - 1 - layout->left_out());
    EXPECT_LT(layout->left_out(), 8);
  }
}

TEST(StreamLayout, ShufflesDocumentsByEpochAndSeedAlone) {
  auto context = documents_of(many_lengths(100), 2);
  context.shuffled = true;
  const auto one = make_layout({}, context), same = make_layout({}, context);
  context.seed = 1;
  const auto other = make_layout({}, context);
  EXPECT_EQ(one->pieces(3, 4), same->pieces(3, 4));
  EXPECT_NE(one->pieces(3, 4), one->pieces(3, 5));
  EXPECT_NE(one->pieces(3, 4), other->pieces(3, 4));
  EXPECT_EQ(one->pieces(3, 4), same->pieces(3, 4)) << "epochs come in any order";
  context.shuffled = false;
  EXPECT_EQ(make_layout({}, context)->pieces(3, 0), make_layout({}, context)->pieces(3, 9));
}

TEST(StreamLayout, NeedsATokenForEachRowAndOneMore) {
  EXPECT_EQ(make_layout({}, documents_of({4, 1}, 4))->samples(), 4);
  EXPECT_THAT(complaint_of({}, documents_of({4}, 4)),
              HasSubstr("batch.global: split 'train' has 4 tokens, and a batch of 4 streams needs "
                        "5; make it smaller"));
}

TEST(ShuffledBlocks, DropTheLastOneThatIsNotWhole) {
  BlockOptions options;
  options.layout = BlockLayout::shuffled;
  options.length = 4;
  const auto layout = make_layout(options, documents_of({3, 5, 2}));
  EXPECT_EQ(layout->samples(), 2);
  EXPECT_EQ(layout->left_out(), 1);
  EXPECT_THAT(layout->pieces(0, 0), ElementsAre(Piece{0, 0, 3}, Piece{1, 0, 2}));
  EXPECT_THAT(layout->pieces(1, 0), ElementsAre(Piece{1, 1, 4}, Piece{2, 0, 1}));
  EXPECT_THAT(complaint_of(options, documents_of({4})), HasSubstr("data.blocks.length"));
}

TEST(PackedBlocks, HoldEachDocumentOnce) {
  const auto lengths = many_lengths(2000);
  BlockOptions options;
  options.layout = BlockLayout::packed;
  options.length = 64;
  const auto layout = make_layout(options, documents_of(lengths));
  Numbers found(lengths.size());
  for (std::int64_t sample = 0; sample < layout->samples(); ++sample) {
    std::int64_t tokens = 0;
    for (const auto& piece : layout->pieces(sample, 0)) {
      EXPECT_EQ(piece.first, 0);
      found[static_cast<std::size_t>(piece.document)] += piece.length;
      tokens += piece.length;
    }
    EXPECT_LE(tokens, 64);
  }
  EXPECT_EQ(found, lengths);
  EXPECT_EQ(layout->left_out(), 0);
}

TEST(PackedBlocks, NameTheFirstDocumentThatIsTooLong) {
  BlockOptions options;
  options.layout = BlockLayout::packed;
  options.length = 4;
  const auto context = documents_of({4, 5, 9});
  EXPECT_THAT(complaint_of(options, context),
              HasSubstr("data.blocks.long: 2 documents are longer than a block of 4, the first is "
                        "'text 1' with 5"));
  options.long_document = LongDocument::cut;
  EXPECT_EQ(make_layout(options, context)->left_out(), 6);
  options.long_document = LongDocument::split;
  EXPECT_EQ(make_layout(options, context)->left_out(), 0);
}

std::vector<Piece> random_pieces(std::int64_t count) {
  std::vector<Piece> pieces;
  Stream random(1, 0);
  for (std::int64_t i = 0; i < count; ++i)
    pieces.push_back({i, 0, 1 + static_cast<std::int64_t>(random.below(2000))});
  return pieces;
}

TEST(PackedBlocks, AreAlmostFull) {
  const auto pieces = random_pieces(300'000);
  std::int64_t tokens = 0;
  for (const auto& piece : pieces) tokens += piece.length;
  EXPECT_LT(std::ssize(best_fit_decreasing(pieces, 2048)), (tokens / 2048 + 1) * 102 / 100);
}

// Eight times the documents take little more than eight times the time, and would take 64 times by
// a search of all blocks for each.
TEST(PackedBlocks, AreFoundInLogarithmicTimeADocument) {
  const auto seconds = [](std::int64_t documents) {
    const auto pieces = random_pieces(documents);
    return processor_seconds([&] { best_fit_decreasing(pieces, 2048); });
  };
  EXPECT_LT(seconds(320'000), 24 * seconds(40'000));
}

Numbers read(const DocumentReader& reader, const std::vector<Piece>& pieces) {
  std::int64_t count = 0;
  for (const auto& piece : pieces) count += piece.length;
  Numbers ids(static_cast<std::size_t>(count));
  reader.copy(pieces, ids);
  return ids;
}

TEST(DocumentReader, PutsATokenBehindDocumentsThatHaveSome) {
  const auto source = std::make_shared<TokenDocuments>(std::vector<Numbers>{{1, 2, 3}, {}, {4}});
  const DocumentReader reader(source, false, 9);
  EXPECT_EQ(reader.lengths(), (Numbers{4, 0, 2}));
  EXPECT_EQ(read(reader, {{0, 0, 4}, {2, 0, 2}}), (Numbers{1, 2, 3, 9, 4, 9}));
  EXPECT_EQ(read(reader, {{0, 1, 2}}), (Numbers{2, 3}));
  EXPECT_EQ(read(reader, {{0, 3, 1}, {2, 0, 1}}), (Numbers{9, 4}));
}

// fastai.text.core.reverse_text flips each document before they are joined.
TEST(DocumentReader, ReadsBackwards) {
  const auto source = std::make_shared<TokenDocuments>(std::vector<Numbers>{{1, 2, 3, 4}, {5, 6}});
  const DocumentReader plain(source, true, DocumentReader::kNoEnd);
  EXPECT_EQ(read(plain, {{0, 0, 4}, {1, 0, 2}}), (Numbers{4, 3, 2, 1, 6, 5}));
  EXPECT_EQ(read(plain, {{0, 1, 2}}), (Numbers{3, 2}));
  const DocumentReader ended(source, true, 9);
  EXPECT_EQ(read(ended, {{0, 2, 3}, {1, 0, 1}}), (Numbers{2, 1, 9, 6}));
}

}  // namespace
}  // namespace ddptrain
