// `blocks` of a language model's data: how documents become samples.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/fields.h"

namespace ddptrain {

/// streams: fastai's LMDataLoader, a row of a batch continues that of the batch before. shuffled:
/// the joined documents in blocks that are shuffled. packed: whole documents, several in a block.
enum class BlockLayout { streams, shuffled, packed };
/// What becomes of a document that is longer than a block, under `packed`.
enum class LongDocument { error, cut, split };
std::span<const std::string_view> names(BlockLayout);
std::span<const std::string_view> names(LongDocument);

struct BlockOptions {
  BlockLayout layout = BlockLayout::streams;
  std::int64_t length = 72;  // tokens of a sample
  LongDocument long_document = LongDocument::error;
  bool backwards = false;
  std::optional<std::string> end;  // a token of the vocabulary
  static constexpr std::string_view shorthand = "layout";
  void fields(Fields& f);
};

}  // namespace ddptrain
