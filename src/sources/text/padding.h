// Short rows filled up.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "config/fields.h"

namespace ddptrain {

enum class PaddingSide { last, first, chunks };
std::span<const std::string_view> names(PaddingSide);

struct PaddingOptions {
  PaddingSide side = PaddingSide::last;
  std::int64_t chunk = 72;
  std::int64_t multiple = 1;
  static constexpr std::string_view shorthand = "side";
  void fields(Fields& f);
};

/// Tokens of a row that holds a document of `length` tokens.
std::int64_t padded_length(std::int64_t length, const PaddingOptions& options);

/// Writes a document into a row that is at least as long and fills it up with `padding`: behind it,
/// in front (fastai's pad_input with pad_first), or whole chunks in front and the rest behind
/// (fastai's pad_input_chunk, for models that read a document in pieces).
void fill_row(std::span<const std::int32_t> document, std::span<std::int64_t> row,
              std::int64_t padding, const PaddingOptions& options);

}  // namespace ddptrain
