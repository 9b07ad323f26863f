// The regular expressions with which published tokenizers cut a text into words, written by hand:
// each finds a word in a time linear in its length.
#pragma once

#include <cstddef>
#include <string_view>

namespace ddptrain {

/// Where the word that begins at `at`, inside of the text, ends. Words follow each other without
/// gaps.
using WordEnd = std::size_t (*)(std::string_view text, std::size_t at);

/// GPT-2's: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t gpt2_word_end(std::string_view text, std::size_t at);

/// Of a regular expression in a tokenizer.json: those of GPT-2, GPT-4, Llama 3 and Qwen. Null for
/// every other.
WordEnd find_word_pattern(std::string_view regex);

}  // namespace ddptrain
