#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode.h"

namespace ddptrain {
namespace {

std::size_t first_byte(const AddedToken& token) {
  return static_cast<unsigned char>(token.text.front());
}

bool ends_with_word(std::string_view text) {
  if (text.empty()) return false;
  auto at = before_character(text, text.size());
  return is_rust_word(next_character(text, at));
}

bool begins_with_word(std::string_view text) {
  std::size_t at = 0;
  return !text.empty() && is_rust_word(next_character(text, at));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(), [](const auto& a, const auto& b) {
    if (first_byte(a) != first_byte(b)) return first_byte(a) < first_byte(b);
    return a.text.size() > b.text.size();
  });
  for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
    auto& range = by_byte_[first_byte(tokens_[i])];
    if (range.last == 0) range.first = i;
    range.last = i + 1;
  }
}

/// The first token from `at` on, which moves to it; null where there is none.
const AddedToken* AddedTokens::find(std::string_view text, std::size_t& at) const {
  for (; at < text.size(); ++at) {
    const auto& range = by_byte_[static_cast<unsigned char>(text[at])];
    for (auto i = range.first; i < range.last; ++i)
      if (text.substr(at).starts_with(tokens_[i].text)) return &tokens_[i];
  }
  return nullptr;
}

// As AddedVocabulary::find_matches: blanks that belong to a token are not sought for others.
void AddedTokens::split(std::string_view text, const std::function<void(std::string_view)>& plain,
                        const std::function<void(const AddedToken&)>& added) const {
  std::size_t done = 0;
  for (std::size_t at = 0; const auto* token = find(text, at);) {
    auto first = at, last = at + token->text.size();
    at = last;
    if (token->single_word &&
        (ends_with_word(text.substr(0, first)) || begins_with_word(text.substr(last))))
      continue;
    if (token->strip_left)
      first = std::max(done, strip_end(text.substr(0, first), is_white_space).size());
    if (token->strip_right)
      last = text.size() - strip_begin(text.substr(last), is_white_space).size();
    if (done < first) plain(text.substr(done, first - done));
    added(*token);
    done = last;
  }
  if (done < text.size()) plain(text.substr(done));
}

}  // namespace ddptrain
