// Words of English text that went through fastai's rules, much as spaCy's tokenizer finds them.
#pragma once

#include <string_view>
#include <vector>

namespace ddptrain {

/// Cuts at spaces; punctuation stands alone, but inside of numbers ("3.14", "1,000") and between
/// letters with single dots ("u.s.a.") it stays; endings of contractions stand alone ("do", "n't",
/// "it", "'s"); a run of line ends is one token. Nothing is lost but single spaces.
void split_words(std::string_view text, std::vector<std::string_view>& words);

/// fastai's BaseTokenizer: str.split(" "), empty words included.
void split_at_spaces(std::string_view text, std::vector<std::string_view>& words);

}  // namespace ddptrain
