#include "text/vocabulary.h"

#include <algorithm>

namespace ddptrain {
namespace {

constexpr std::string_view filler = "xxfake";

}  // namespace

void VocabularyOptions::fields(Fields& f) {
  f("min_freq", min_freq, {.doc = "Rarer tokens of the training texts are unknown.", .min = 1});
  f("max_vocab", max_vocab, {.doc = "At most so many tokens are known.", .min = 16});
}

std::vector<std::string> make_vocabulary(std::vector<TokenCount> counts,
                                         std::span<const std::string_view> special,
                                         const VocabularyOptions& options) {
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  const auto most = static_cast<std::size_t>(options.max_vocab);
  if (counts.size() > most) counts.resize(most);
  std::vector<std::string> tokens(special.begin(), special.end());
  for (const auto& [token, count] : counts)
    if (count >= options.min_freq &&
        std::find(special.begin(), special.end(), token) == special.end())
      tokens.emplace_back(token);
  if (tokens.size() > most) tokens.resize(most);
  tokens.resize(tokens.size() / 8 * 8 + 8, std::string(filler));
  return tokens;
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, std::int64_t unknown)
    : tokens_(std::move(tokens)), unknown_(unknown) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i] == filler) continue;
    const auto word = words_.add(tokens_[i]);
    numbers_.resize(words_.size());
    numbers_[word] = static_cast<std::int64_t>(i);
  }
}

}  // namespace ddptrain
