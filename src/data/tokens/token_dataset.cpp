#include "data/tokens/token_dataset.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/text.h"
#include "data/preview.h"
#include "data/unknown.h"
#include "sources/tokens/layout.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kNotLearned = -100;  // losses/rows.h: kNoLabel
constexpr std::array kSplitNames{"train", "valid"};

std::int64_t end_of(const BlockOptions& options, const TokenVocabulary& vocabulary) {
  if (!options.end) return DocumentReader::kNoEnd;
  const auto& tokens = vocabulary.tokens;
  const auto found = std::find(tokens.begin(), tokens.end(), *options.end);
  if (found != tokens.end()) return found - tokens.begin();
  throw Error(Exit::recipe, Option{"data.blocks.end"}, "'{}' is no token of the vocabulary{}",
              shown(*options.end, 40), did_you_mean(nearest(*options.end, tokens)));
}

/// A row of a batch.
struct TokenRow {
  std::span<std::int64_t> tokens, targets;
  std::span<std::int64_t> positions;  // none, but of packed blocks
};

std::span<std::int64_t> row_of(at::Tensor& tensor, std::int64_t row) {
  const auto width = tensor.size(1);
  return {tensor.mutable_data_ptr<std::int64_t>() + row * width, static_cast<std::size_t>(width)};
}

/// The documents of a split as samples.
class TokenSplit {
 public:
  TokenSplit(DocumentReader reader, const BlockOptions& options, LayoutContext context)
      : reader_(std::move(reader)), packed_(options.layout == BlockLayout::packed) {
    context.name = [&source = reader_.source()](auto document) { return source.name(document); };
    context.lengths = reader_.lengths();
    const auto split = context.split;
    layout_ = make_layout(options, std::move(context));
    if (const auto left_out = layout_->left_out(); left_out > 0)
      log::info("split '{}': {} no block and left out", split,
                plural(left_out, "token") + (left_out == 1 ? " is in" : " are in"));
  }

  const TokenLayout& layout() const { return *layout_; }
  const TokenSource& source() const { return reader_.source(); }

  /// Of samples of at most `length` tokens, in an epoch.
  TokenSize size(std::int64_t length) const {
    TokenSize size;
    for (std::int64_t sample = 0; sample < layout_->samples(); ++sample) {
      const auto read = layout_->length(sample);
      size.read += read;
      size.learned += read - (packed_ ? std::ssize(layout_->pieces(sample, 0)) : 0);
      size.places += packed_ ? length : read;
    }
    return size;
  }

  /// Of all pieces, one after the other.
  std::vector<std::int64_t> tokens(std::span<const Piece> pieces) const {
    std::int64_t count = 0;
    for (const auto& piece : pieces) count += piece.length;
    std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
    reader_.copy(pieces, ids);
    return ids;
  }

  void fill(std::int64_t sample, std::int64_t epoch, const TokenRow& row) const {
    const auto pieces = layout_->pieces(sample, epoch);
    const auto ids = tokens(pieces);
    if (packed_) return fill_packed(pieces, ids, row);
    DDP_CHECK(ids.size() <= row.tokens.size() + 1, "a row has room for its sample");
    std::copy(ids.begin(), ids.end() - 1, row.tokens.begin());
    std::copy(ids.begin() + 1, ids.end(), row.targets.begin());
  }

 private:
  static void fill_packed(std::span<const Piece> pieces, std::span<const std::int64_t> ids,
                          const TokenRow& row) {
    DDP_CHECK(ids.size() <= row.tokens.size(), "a row has room for its block");
    std::copy(ids.begin(), ids.end(), row.tokens.begin());
    std::copy(ids.begin() + 1, ids.end(), row.targets.begin());
    std::size_t at = 0;
    for (const auto& piece : pieces) {
      for (std::int64_t position = 0; position < piece.length; ++position)
        row.positions[at++] = position;
      row.targets[at - 1] = kNotLearned;
    }
  }

  DocumentReader reader_;
  bool packed_;
  std::unique_ptr<TokenLayout> layout_;
};

class TokenDataset final : public Dataset, public CountsUnknown, public HasTokens {
 public:
  TokenDataset(TokenData data, const BlockOptions& options, const DataContext& context)
      : data_(std::move(data)), options_(options) {
    for (std::size_t split = 0; split < 2; ++split) {
      LayoutContext layout;
      layout.split = kSplitNames[split];
      layout.rows = split == 0 ? context.train_rows : context.valid_rows;
      layout.shuffled = split == 0;
      layout.seed = context.seed;
      splits_.emplace_back(
          DocumentReader(data_.splits[split], options.backwards, end_of(options, data_.vocabulary)),
          options, std::move(layout));
    }
    facts_.cardinalities = {std::ssize(data_.vocabulary.tokens)};
    facts_.padding = data_.vocabulary.padding;
    const bool streams = options.layout == BlockLayout::streams;
    facts_.tokens = {data_.vocabulary.bytes, streams, packed(), streams ? context.valid_rows : 0};
    state_ = vocabulary_state(data_.vocabulary);
  }

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split split) const override { return of(split).layout().samples(); }
  std::int64_t length(Split split, std::int64_t index) const override {
    return of(split).layout().length(index);
  }

  Batch allocate(Split split, std::int64_t rows) const override {
    return allocate_length(split, rows, size(split) > 0 ? length(split, 0) : options_.length);
  }
  Batch allocate_length(Split, std::int64_t rows, std::int64_t length) const override {
    Batch batch;
    batch.rows = rows;
    batch.inputs.push_back(at::empty({rows, length}, at::kLong));
    if (packed()) batch.inputs.push_back(at::empty({rows, length}, at::kLong));
    batch.targets = {at::empty({rows, length}, at::kLong)};
    return batch;
  }

  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override {
    TokenRow to{row_of(batch.inputs[0], row), row_of(batch.targets[0], row), {}};
    // What fills up is not learned and no token reads it: any number will do.
    std::ranges::fill(to.tokens, std::max<std::int64_t>(0, facts_.padding));
    std::ranges::fill(to.targets, kNotLearned);
    if (packed()) {
      to.positions = row_of(batch.inputs[1], row);
      std::ranges::fill(to.positions, 0);
    }
    of(split).fill(index, draw.epoch, to);
    return true;
  }

  std::string sample_name(Split split, std::int64_t index) const override {
    return of(split).layout().name(index);
  }
  std::string name_kind() const override { return "block"; }
  std::int64_t label(Split, std::int64_t) const override { return -1; }

  Preview preview(Split split, std::int64_t index, const Draw& draw) const override {
    Preview shown;
    shown.name = sample_name(split, index);
    const auto pieces = of(split).layout().pieces(index, draw.epoch);
    const auto ids = of(split).tokens(pieces);
    for (const auto& piece : pieces)
      for (auto i = piece.first; i < piece.first + piece.length; ++i) {
        const auto& tokens = shown.tokens;
        const bool learned = packed() ? i > piece.first : !tokens.empty();
        const auto id = static_cast<std::size_t>(ids[tokens.size()]);
        shown.tokens.push_back({data_.vocabulary.tokens[id], i == 0, learned});
      }
    return shown;
  }

  std::string state() const override { return state_; }

  std::vector<UnknownValues> unknown(Split split) const override {
    const auto& tokens = data_.vocabulary.tokens;
    const auto found = std::find(tokens.begin(), tokens.end(), data_.vocabulary.unknown);
    if (found == tokens.end()) return {};
    const auto& source = of(split).source();
    UnknownValues words{"", *found};
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < source.documents(); ++i) {
      ids.resize(static_cast<std::size_t>(source.length(i)));
      source.copy({i, 0, std::ssize(ids)}, ids);
      const auto count = std::count(ids.begin(), ids.end(), found - tokens.begin());
      words.values += count;
      words.of += std::ssize(ids);
      words.samples += count > 0;
    }
    return words.values > 0 ? std::vector{words} : std::vector<UnknownValues>();
  }

  std::string digest() const override {
    return sha256(fmt::format("{}\n{} {} {} {} {}", data_.digest, static_cast<int>(options_.layout),
                              options_.length, static_cast<int>(options_.long_document),
                              options_.backwards, options_.end.value_or("")));
  }

  const TokenData& token_data() const override { return data_; }
  TokenSize token_size(Split split) const override { return of(split).size(options_.length); }

 private:
  const TokenSplit& of(Split split) const { return splits_[static_cast<std::size_t>(split)]; }
  bool packed() const { return options_.layout == BlockLayout::packed; }

  TokenData data_;
  BlockOptions options_;
  std::vector<TokenSplit> splits_;  // train, valid
  DataFacts facts_;
  std::string state_;
};

}  // namespace

std::unique_ptr<Dataset> make_token_dataset(TokenData data, const BlockOptions& options,
                                            const DataContext& context) {
  return std::make_unique<TokenDataset>(std::move(data), options, context);
}

std::string vocabulary_state(const TokenVocabulary& vocabulary) {
  const Json state{{"tokenizer", vocabulary.tokenizer},
                   {"tokenizer_options", parse_json(vocabulary.tokenizer_options)},
                   {"vocabulary", vocabulary.tokens}};
  return lossy_json_text(state);
}

}  // namespace ddptrain
