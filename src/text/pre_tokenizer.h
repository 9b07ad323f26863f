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
  /// BertPreTokenizer, Whitespace, WhitespaceSplit, ByteLevel, Digits, Metaspace, Punctuation,
  /// Split, or a Sequence of these.
  explicit PreTokenizer(const JsonSection& section);
  /// Called with each word of a text, a view that lasts for the call.
  using Visit = std::function<void(std::string_view word)>;
  /// `begins`: nothing of the document stands before the text.
  void cut(std::string_view text, bool begins, const Visit& word) const;
  /// Words are bytes, which the vocabulary writes as characters (text/byte_characters.h).
  bool words_are_bytes() const { return bytes_; }

 private:
  using Step = std::function<void(std::string_view text, bool begins, const Visit& word)>;
  void add(const JsonSection& section, int depth);
  void add_byte_level(const JsonSection& section);
  void add_metaspace(const JsonSection& section);
  void add_split(const JsonSection& section);
  void add_digits(const JsonSection& section);
  void add_plain(const JsonSection& section);
  void run(std::size_t step, std::string_view text, bool begins, const Visit& word) const;

  std::vector<Step> steps_;
  bool bytes_ = false;
};

}  // namespace ddptrain
