#include "text/detokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

constexpr std::string_view incomplete = "\xef\xbf\xbd";  // U+FFFD

// A character has at most four bytes, so many tokens that complete none are no text: they are
// shown.
constexpr std::size_t most_held = 32;

}  // namespace

void Tokenizer::encode(std::string_view, Tokens&) const {
  DDP_CHECK(false, "the tokenizer has a vocabulary");
}

bool Detokenizer::is_text(std::int32_t id, SpecialTokens special) const {
  if (id < 0 || static_cast<std::size_t>(id) >= tokens_.size()) return false;
  const auto& token = tokens_[static_cast<std::size_t>(id)];
  return !token.empty() && (special == SpecialTokens::keep || !tokenizer_.is_special(token));
}

std::string Detokenizer::decode(std::span<const std::int32_t> ids, SpecialTokens special) const {
  std::vector<std::string_view> tokens;
  tokens.reserve(ids.size());
  for (const auto id : ids)
    if (is_text(id, special)) tokens.push_back(tokens_[static_cast<std::size_t>(id)]);
  return tokenizer_.decode(tokens);
}

std::vector<std::int32_t> Detokenizer::token_bytes() const {
  std::vector<std::int32_t> bytes;
  bytes.reserve(tokens_.size());
  for (const auto& token : tokens_)
    bytes.push_back(token.empty() ? 0 : static_cast<std::int32_t>(tokenizer_.text_bytes(token)));
  return bytes;
}

bool TextStream::is_held(const std::string& text) const {
  return text.size() <= shown_.size() ||
         (text.ends_with(incomplete) && ids_.size() - before_ < most_held);
}

std::string TextStream::add(std::int32_t id) {
  if (!detokenizer_.is_text(id, special_)) return {};
  if (shown_.empty() && !ids_.empty()) {  // tokens whose text shows only together with others
    auto text = detokenizer_.decode(ids_, special_);
    if (!text.ends_with(incomplete)) {
      shown_ = std::move(text);
      before_ = ids_.size();
    }
  }
  ids_.push_back(id);
  const auto text = detokenizer_.decode(ids_, special_);
  if (is_held(text)) return {};
  auto made = behind_shown(text);
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(before_));
  before_ = ids_.size();
  shown_ = detokenizer_.decode(ids_, special_);
  return made;
}

std::string TextStream::finish() {
  auto made = behind_shown(detokenizer_.decode(ids_, special_));
  ids_.clear();
  before_ = 0;
  shown_.clear();
  return made;
}

/// What was shown stays, where further bytes make other characters of it too.
std::string TextStream::behind_shown(const std::string& text) const {
  const auto same = std::mismatch(text.begin(), text.end(), shown_.begin(), shown_.end()).first;
  auto at = static_cast<std::size_t>(same - text.begin());
  while (at < text.size() && at > 0 && (text[at] & 0xC0) == 0x80) --at;
  return text.substr(at);
}

}  // namespace ddptrain
