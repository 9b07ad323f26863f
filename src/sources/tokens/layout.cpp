#include "sources/tokens/layout.h"

#include <fmt/format.h>

#include <mutex>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "sources/tokens/packing.h"
#include "sources/tokens/streams.h"

namespace ddptrain {
namespace {

std::int64_t sum_of(const std::vector<std::int64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

[[noreturn]] void too_few_tokens(const LayoutContext& context, const char* option,
                                 const std::string& wanted) {
  throw Error(Exit::data, Option{option}, "split '{}' has {}, and {}; make it smaller",
              context.split, plural(sum_of(context.lengths), "token"), wanted);
}

/// The documents of an epoch, joined in its own order; made once for all loading threads.
class ShuffledDocuments {
 public:
  ShuffledDocuments(std::vector<std::int64_t> lengths, std::uint64_t seed)
      : lengths_(std::move(lengths)), seed_(seed) {}

  std::shared_ptr<const JoinedDocuments> of(std::int64_t epoch) const {
    const std::lock_guard lock(mutex_);
    if (!joined_ || epoch_ != epoch) {
      Stream random(mix(seed_, hash_text("documents of streams")),
                    static_cast<std::uint64_t>(epoch));
      const auto n = std::ssize(lengths_);
      joined_ = std::make_shared<const JoinedDocuments>(lengths_, random_order(n, n, random));
      epoch_ = epoch;
    }
    return joined_;
  }

 private:
  std::vector<std::int64_t> lengths_;
  std::uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const JoinedDocuments> joined_;
  mutable std::int64_t epoch_ = 0;
};

class StreamLayout final : public TokenLayout {
 public:
  StreamLayout(std::int64_t length, LayoutContext context)
      : rows_(context.rows), streams_(sum_of(context.lengths), context.rows, length) {
    if (streams_.samples() == 0 && !context.lengths.empty())
      too_few_tokens(context, context.split == "train" ? "batch.global" : "eval.batch",
                     fmt::format("a batch of {} streams needs {}", rows_, rows_ + 1));
    if (context.shuffled)
      shuffled_ = std::make_unique<ShuffledDocuments>(std::move(context.lengths), context.seed);
    else
      in_order_ = std::make_shared<const JoinedDocuments>(context.lengths);
  }

  std::int64_t samples() const override { return streams_.samples(); }
  std::int64_t length(std::int64_t sample) const override { return streams_.length(sample); }
  std::vector<Piece> pieces(std::int64_t sample, std::int64_t epoch) const override {
    const auto joined = shuffled_ ? shuffled_->of(epoch) : in_order_;
    return joined->pieces(streams_.first(sample), length(sample) + 1);
  }
  std::string name(std::int64_t sample) const override {
    return fmt::format("piece {} of stream {}", sample / rows_, sample % rows_);
  }
  std::int64_t left_out() const override { return streams_.left_out(); }

 private:
  std::int64_t rows_;
  Streams streams_;
  std::unique_ptr<ShuffledDocuments> shuffled_;      // one of
  std::shared_ptr<const JoinedDocuments> in_order_;  // both
};

/// run_clm's group_texts, but that the last token of a block learns the first of the next.
class BlocksOfText final : public TokenLayout {
 public:
  BlocksOfText(std::int64_t length, const LayoutContext& context)
      : length_(length), joined_(context.lengths) {
    if (joined_.tokens() <= length && !context.lengths.empty())
      too_few_tokens(context, "data.blocks.length",
                     fmt::format("a block of {} needs one more", plural(length, "token")));
    samples_ = joined_.tokens() == 0 ? 0 : (joined_.tokens() - 1) / length;
  }

  std::int64_t samples() const override { return samples_; }
  std::int64_t length(std::int64_t) const override { return length_; }
  std::vector<Piece> pieces(std::int64_t sample, std::int64_t) const override {
    return joined_.pieces(sample * length_, length_ + 1);
  }
  std::string name(std::int64_t sample) const override { return fmt::format("block {}", sample); }
  std::int64_t left_out() const override {
    return samples_ == 0 ? 0 : joined_.tokens() - 1 - samples_ * length_;
  }

 private:
  std::int64_t length_;
  JoinedDocuments joined_;
  std::int64_t samples_ = 0;
};

void refuse_long(const LayoutContext& context, std::int64_t block) {
  std::int64_t count = 0, first = 0;
  for (auto i = std::ssize(context.lengths); i-- > 0;)
    if (context.lengths[static_cast<std::size_t>(i)] > block) {
      ++count;
      first = i;
    }
  if (count == 0) return;
  throw Error(Exit::data, Option{"data.blocks.long"},
              "{} longer than a block of {}, the first is '{}' with {}; write 'cut' or 'split', or "
              "a larger data.blocks.length",
              plural(count, "document") + (count == 1 ? " is" : " are"), block, context.name(first),
              context.lengths[static_cast<std::size_t>(first)]);
}

class PackedDocuments final : public TokenLayout {
 public:
  PackedDocuments(const BlockOptions& options, const LayoutContext& context)
      : length_(options.length) {
    if (options.long_document == LongDocument::error) refuse_long(context, length_);
    const auto pieces = options.long_document == LongDocument::split
                            ? split_documents(context.lengths, length_)
                            : cut_documents(context.lengths, length_);
    left_out_ = sum_of(context.lengths);
    for (const auto& piece : pieces) left_out_ -= piece.length;
    blocks_ = best_fit_decreasing(pieces, length_);
  }

  std::int64_t samples() const override { return std::ssize(blocks_); }
  std::int64_t length(std::int64_t) const override { return length_; }
  std::vector<Piece> pieces(std::int64_t sample, std::int64_t) const override {
    return blocks_[static_cast<std::size_t>(sample)];
  }
  std::string name(std::int64_t sample) const override { return fmt::format("block {}", sample); }
  std::int64_t left_out() const override { return left_out_; }

 private:
  std::int64_t length_;
  std::int64_t left_out_ = 0;
  std::vector<PackedBlock> blocks_;
};

}  // namespace

std::unique_ptr<TokenLayout> make_layout(const BlockOptions& options, LayoutContext context) {
  switch (options.layout) {
    case BlockLayout::streams:
      return std::make_unique<StreamLayout>(options.length, std::move(context));
    case BlockLayout::shuffled:
      return std::make_unique<BlocksOfText>(options.length, context);
    case BlockLayout::packed:
      return std::make_unique<PackedDocuments>(options, context);
  }
  DDP_CHECK(false, "a layout");
  return {};
}

}  // namespace ddptrain
