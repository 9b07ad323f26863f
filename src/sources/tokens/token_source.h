// Documents as token ids, wherever they lie.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sources/tokens/pieces.h"

namespace ddptrain {

/// What the ids of a source are numbers of.
struct TokenVocabulary {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> bytes;       // of text that each stands for (TokenFacts)
  std::int64_t padding = -1;             // the number that fills up; -1: none does
  std::string unknown = {};              // a token; empty: every text has known ones
  std::string tokenizer = {};            // Tokenizer::digest()
  std::string tokenizer_options = "{}";  // a map as JSON: option to its value as YAML
};

/// The documents of a split. Safe to use from many threads.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::int64_t documents() const = 0;
  /// Tokens of a document; 0: it is empty.
  virtual std::int64_t length(std::int64_t document) const = 0;
  /// The ids of a piece of a document; `ids` has its length.
  virtual void copy(const Piece& piece, std::span<std::int64_t> ids) const = 0;
  /// For messages: a path, "reviews.csv row 12".
  virtual std::string name(std::int64_t document) const = 0;
};

/// Documents as a model reads them: from their end where `backwards` is set, and with a token
/// behind each that has any.
class DocumentReader {
 public:
  static constexpr std::int64_t kNoEnd = -1;
  DocumentReader(std::shared_ptr<const TokenSource> source, bool backwards, std::int64_t end)
      : source_(std::move(source)), backwards_(backwards), end_(end) {}

  /// Tokens of each document, the one behind it counted.
  std::vector<std::int64_t> lengths() const;
  /// The tokens of pieces, one after the other; `ids` has the length of all.
  void copy(std::span<const Piece> pieces, std::span<std::int64_t> ids) const;
  const TokenSource& source() const { return *source_; }

 private:
  std::int64_t length(std::int64_t document) const;
  void copy(const Piece& piece, std::span<std::int64_t> ids) const;

  std::shared_ptr<const TokenSource> source_;
  bool backwards_;
  std::int64_t end_;
};

}  // namespace ddptrain
