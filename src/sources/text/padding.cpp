#include "sources/text/padding.h"

#include <algorithm>
#include "base/error.h"
#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(PaddingSide) {
  return kNameList<"last", "first", "chunks">;
}

void PaddingOptions::fields(Fields& f) {
  f("side", side,
    {.doc = "last: padding behind the text; first: in front; chunks: whole chunks in front, the "
            "rest behind, as fastai's text classifier reads it."});
  f("chunk", chunk,
    {.doc = "Tokens of a chunk, the model's piece of text at a time.", .min = 1, .unit = "tokens"});
  f("multiple", multiple,
    {.doc = "Rows are filled up to a multiple of so many tokens.", .min = 1, .unit = "tokens"});
}

std::int64_t padded_length(std::int64_t length, const PaddingOptions& options) {
  return (length + options.multiple - 1) / options.multiple * options.multiple;
}

void fill_row(std::span<const std::int32_t> document, std::span<std::int64_t> row,
              std::int64_t padding, const PaddingOptions& options) {
  DDP_CHECK(document.size() <= row.size(), "a document is longer than its row");
  const auto spare = row.size() - document.size();
  const auto chunk = static_cast<std::size_t>(options.chunk);
  const auto front = options.side == PaddingSide::last    ? 0
                     : options.side == PaddingSide::first ? spare
                                                          : spare / chunk * chunk;
  std::fill(row.begin(), row.end(), padding);
  std::copy(document.begin(), document.end(), row.begin() + static_cast<std::ptrdiff_t>(front));
}

}  // namespace ddptrain
