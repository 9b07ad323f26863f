// The tokenizer of a run of texts, and where a text of its model ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verb.h"
#include "generation/text_codec.h"
#include "recipe/recipe.h"

namespace ddptrain {

inline constexpr Flag kTokenizerFile{"--tokenizer", "FILE",
                                     "tokenizer.json, where it is not where the run had it"};

/// The tokenizer of the recipe; where it leaves it out, that which the checkpoint describes. `file`
/// takes the place of its file unless it is empty. An Error (Exit::recipe) about data.tokenizer
/// where there is none.
Choice<Tokenizer> tokenizer_of(const Recipe& recipe, const FittedTokens& fitted,
                               const std::string& file);

/// The same with the vocabulary of a run whose data have the state `fitted` (Dataset::state). An
/// Error (Exit::recipe) where the run reads no texts; others as in generation/text_codec.h.
std::unique_ptr<TextCodec> codec_of(const Recipe& recipe, const std::string& fitted,
                                    const std::string& file = {});

/// Whether an option of data.blocks has a value; `otherwise` is its default.
bool is_block_option(const Recipe& recipe, std::string_view key, std::string_view value,
                     std::string_view otherwise);

/// Tokens after which a text ends, each once: special ones, and data.blocks.end.
std::vector<std::int64_t> text_ends(const Recipe& recipe, const TextCodec& codec);

}  // namespace ddptrain
