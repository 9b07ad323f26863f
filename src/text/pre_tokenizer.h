// How a tokenizer.json cuts a text into words (Hugging Face's pre-tokenizers).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_section.h"

namespace ddptrain {

class PreTokenizer {
 public:
  /// Leaves a text whole.
  PreTokenizer() = default;
  /// BertPreTokenizer, Whitespace, WhitespaceSplit, ByteLevel, or a Sequence of these.
  explicit PreTokenizer(const JsonSection& section);
  /// `word` is called with each word of the text, a view that lasts for the call.
  using Visit = std::function<void(std::string_view word)>;
  void cut(std::string_view text, const Visit& word) const;

 private:
  using Step = std::function<void(std::string_view text, const Visit& word)>;
  void add(const JsonSection& section, int depth);
  void run(std::size_t step, std::string_view text, const Visit& word) const;

  std::vector<Step> steps_;
};

}  // namespace ddptrain
