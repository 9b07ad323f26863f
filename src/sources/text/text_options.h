// Options that every dataset of texts has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/choice.h"
#include "recipe/data_section.h"
#include "sources/text/padding.h"
#include "sources/tokens/block_options.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace ddptrain {

enum class Truncate { end, start };
enum class InvalidUtf8 { error, replace };
std::span<const std::string_view> names(Truncate);
std::span<const std::string_view> names(InvalidUtf8);

/// Of records that have an option `task` too.
struct TextOptions {
  Choice<Tokenizer> tokenizer{"fastai"};
  VocabularyOptions vocabulary;
  std::optional<std::int64_t> max_length;
  Truncate truncate = Truncate::end;
  PaddingOptions padding;
  bool backwards = false;              // not of the task language_model
  std::optional<BlockOptions> blocks;  // of the task language_model; null: its defaults
  std::optional<std::string> cache;
  DataSection section;
  void fields(Fields& f);
};

}  // namespace ddptrain
