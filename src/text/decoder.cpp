#include "text/decoder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "text/byte_characters.h"
#include "text/metaspace.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

using TokenTexts = std::vector<std::string>;

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

std::string joined(const TokenTexts& tokens) {
  std::string text;
  for (const auto& token : tokens) text += token;
  return text;
}

void join_bytes(TokenTexts& tokens) {
  std::string bytes;
  for (const auto& token : tokens) bytes += bytes_of_characters(token).value_or(token);
  tokens = {replace_invalid_utf8(bytes)};
}

/// A run of bytes is text as a whole, or U+FFFD for each of them.
void join_fallback_bytes(TokenTexts& tokens) {
  TokenTexts made;
  std::string run;
  const auto flush = [&] {
    if (!find_invalid_utf8(run))
      made.push_back(run);
    else
      made.insert(made.end(), run.size(), std::string(replacement));
    run.clear();
  };
  for (auto& token : tokens) {
    if (const int byte = byte_of_token(token); byte >= 0) {
      run += static_cast<char>(byte);
      continue;
    }
    if (!run.empty()) flush();
    made.push_back(std::move(token));
  }
  if (!run.empty()) flush();
  tokens.swap(made);
}

void fuse(TokenTexts& tokens) { tokens = {joined(tokens)}; }

void strip(std::string& token, const std::string& content, std::int64_t start, std::int64_t stop) {
  for (; start > 0 && token.starts_with(content); --start) token.erase(0, content.size());
  for (; stop > 0 && token.ends_with(content); --stop) token.resize(token.size() - content.size());
}

void drop_marks(TokenTexts& tokens, const Metaspace& space) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool first = i == 0 && space.prepend != Metaspace::Prepend::never;
    tokens[i] = replace_text(tokens[i], space.mark, first ? "" : " ");
  }
}

void drop_suffix(TokenTexts& tokens, const std::string& suffix) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = replace_text(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
}

/// tokenizers.decoders.wordpiece.cleanup
std::string clean_up(std::string token) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> rules{
      {{" .", "."},
       {" ?", "?"},
       {" !", "!"},
       {" ,", ","},
       {" ' ", "'"},
       {" n't", "n't"},
       {" 'm", "'m"},
       {" do not", " don't"},
       {" 's", "'s"},
       {" 've", "'ve"},
       {" 're", "'re"}}};
  for (const auto& [from, to] : rules) token = replace_text(token, from, to);
  return token;
}

void join_pieces(TokenTexts& tokens, const std::string& prefix, bool cleanup) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    auto& token = tokens[i];
    if (i > 0 && token.starts_with(prefix))
      token.erase(0, prefix.size());
    else if (i > 0)
      token.insert(0, " ");
    if (cleanup) token = clean_up(std::move(token));
  }
}

}  // namespace

int byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  int byte = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    byte = 16 * byte + digit;
  }
  return byte;
}

Decoder::Decoder(const JsonSection& section) : given_(true) { add(section, 0); }

void Decoder::add(const JsonSection& section, int depth) {
  const auto type = section.type();
  section.check_depth(depth);
  if (type == "Sequence") {
    section.allow({"type", "decoders"});
    const auto list = section.at("decoders");
    for (std::size_t i = 0; i < list.items(); ++i) add(list.item(i), depth + 1);
    return;
  }
  if (type == "WordPiece") return add_word_piece(section);
  if (type == "Strip") return add_strip(section);
  if (type == "Replace") return add_replace(section);
  if (type == "BPEDecoder") return add_suffix(section);
  if (type == "Metaspace") {
    steps_.emplace_back(
        [space = Metaspace(section)](TokenTexts& tokens) { drop_marks(tokens, space); });
    return;
  }
  add_plain(section);
}

void Decoder::add_plain(const JsonSection& section) {
  const auto type = section.type();
  if (type == "ByteLevel")  // its options are those of the pre-tokenizer, unused here
    steps_.emplace_back(join_bytes);
  else if (type == "ByteFallback")
    steps_.emplace_back(join_fallback_bytes);
  else if (type == "Fuse")
    steps_.emplace_back(fuse);
  else
    section.not_supported(type,
                          "ByteLevel, WordPiece, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, "
                          "Replace, Sequence");
  byte_level_ = byte_level_ || type == "ByteLevel";
  byte_fallback_ = byte_fallback_ || type == "ByteFallback";
}

void Decoder::add_suffix(const JsonSection& section) {
  section.allow({"type", "suffix"});
  const auto suffix = section.text_or("suffix", "</w>");
  if (suffix.empty()) section.at("suffix").fail("is empty");
  steps_.emplace_back([suffix](TokenTexts& tokens) { drop_suffix(tokens, suffix); });
}

void Decoder::add_word_piece(const JsonSection& section) {
  section.allow({"type", "prefix", "cleanup"});
  const auto prefix = section.text_or("prefix", "##");
  const bool cleanup = section.flag("cleanup", true);
  if (prefix.empty()) section.at("prefix").fail("is empty");
  steps_.emplace_back(
      [prefix, cleanup](TokenTexts& tokens) { join_pieces(tokens, prefix, cleanup); });
}

void Decoder::add_strip(const JsonSection& section) {
  section.allow({"type", "content", "start", "stop"});
  const auto content = section.text("content");
  const auto start = section.number("start", 0), stop = section.number("stop", 0);
  if (count_characters(content) != 1) section.at("content").fail("is not one character");
  steps_.emplace_back([content, start, stop](TokenTexts& tokens) {
    for (auto& token : tokens) strip(token, content, start, stop);
  });
}

void Decoder::add_replace(const JsonSection& section) {
  section.allow({"type", "pattern", "content"});
  const auto pattern = section.at("pattern");
  if (pattern.is_null("String")) pattern.fail("has no 'String', which alone is supported");
  const auto from = pattern.text("String"), to = section.text("content");
  if (from.empty()) pattern.at("String").fail("is empty");
  steps_.emplace_back([from, to](TokenTexts& tokens) {
    for (auto& token : tokens) token = replace_text(token, from, to);
  });
}

std::string Decoder::join(std::vector<std::string> tokens) const {
  if (!given_) return ddptrain::join(tokens, " ");
  for (const auto& step : steps_) step(tokens);
  return joined(tokens);
}

std::size_t Decoder::text_bytes(const std::string& token) const {
  if (byte_fallback_ && byte_of_token(token) >= 0) return 1;
  if (byte_level_) return bytes_of_characters(token).value_or(token).size();
  const auto with = join({"a", token, "a"}).size(), without = join({"a", "a"}).size();
  return with > without ? with - without : 0;
}

}  // namespace ddptrain
