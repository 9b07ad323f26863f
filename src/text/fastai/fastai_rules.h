// The rules that fastai.text.core applies to a text before it is cut into words, one function each,
// exactly as its regular expressions have them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

enum class TextRule {
  fix_html,
  replace_rep,
  replace_wrep,
  spec_add_spaces,
  rm_useless_spaces,
  replace_all_caps,
  replace_maj,
  lowercase,
};
std::span<const std::string_view> names(TextRule);

/// The special tokens, in the order in which a vocabulary begins with them.
std::span<const std::string_view> fastai_special_tokens();

/// Applies a rule to UTF-8 text. `spare` is memory for it.
void apply(TextRule rule, std::string& text, std::string& spare);

/// fastai's decode_spec_tokens: the words of tokens, with capitals and repetitions in place of
/// xxmaj, xxup, xxrep and xxwrep. A repetition ends with its word; fastai's repeats what follows
/// too.
std::vector<std::string> decode_rules(std::span<const std::string_view> tokens);

}  // namespace ddptrain
