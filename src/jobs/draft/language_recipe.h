// The network and its training that `init` writes for a language model, by the amount of text.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

/// How much there is to learn from.
struct LanguageSize {
  std::int64_t tokens = 0;      // of the training texts, about
  std::int64_t vocabulary = 0;  // tokens that the data bring; 0: it is fitted on the texts
  bool gpu = false;             // whether this machine has one
};

/// A GPT-2 and how it trains. One of `epochs` and `steps` is above 0.
struct LanguagePlan {
  std::int64_t layers = 0, heads = 0, width = 0;
  std::int64_t length = 0;      // of a block, in tokens
  std::int64_t vocabulary = 0;  // at most so many tokens are known
  std::int64_t batch = 0;       // blocks
  std::int64_t epochs = 0, steps = 0;
  std::string rate;
};

/// A network that so many tokens can teach, trained for minutes on this machine.
LanguagePlan plan_language(const LanguageSize& size);

/// The lines of a recipe from `model` on, around those of `data`, which lack vocabulary and blocks.
std::string language_lines(const LanguageSize& size, const std::string& data);

}  // namespace ddptrain
