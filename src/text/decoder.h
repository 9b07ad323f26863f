// How a tokenizer.json joins tokens to a text (Hugging Face's decoders).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_section.h"

namespace ddptrain {

class Decoder {
 public:
  /// Joins tokens by spaces.
  Decoder() = default;
  /// ByteLevel, WordPiece, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, Replace, or a Sequence
  /// of these.
  explicit Decoder(const JsonSection& section);
  /// UTF-8; U+FFFD stands for bytes that are no character.
  std::string join(std::vector<std::string> tokens) const;
  /// Bytes of text that a token stands for between others.
  std::size_t text_bytes(const std::string& token) const;

 private:
  using Step = std::function<void(std::vector<std::string>& tokens)>;
  void add(const JsonSection& section, int depth);
  void add_plain(const JsonSection& section);
  void add_replace(const JsonSection& section);
  void add_strip(const JsonSection& section);
  void add_suffix(const JsonSection& section);
  void add_word_piece(const JsonSection& section);

  std::vector<Step> steps_;
  bool given_ = false;
  bool byte_level_ = false, byte_fallback_ = false;
};

/// The byte of a token like "<0x0A>"; -1 for every other token.
int byte_of_token(std::string_view token);

}  // namespace ddptrain
