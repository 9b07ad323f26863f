// Token ids of documents in one file, mapped into memory:
//
//   0   "ddptoks1"
//   8   bytes of the header, uint64, little-endian as all numbers here
//   16  the header, JSON, with blanks to a multiple of 8 bytes:
//         tokens, documents    how many
//         id_bytes             2 or 4
//         tokenizer            Tokenizer::digest(); tokenizer_options its options as YAML
//         vocabulary, padding, unknown
//         bytes                of text that each token of the vocabulary stands for
//       where each document ends, counted in tokens, uint64
//       ids, uint16 or uint32, with zeros to a multiple of 8 bytes
//       CRC-32C of all before it, as uint64
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sources/files/file_system.h"
#include "sources/tokens/token_source.h"

namespace ddptrain {

class TokenFile final : public TokenSource {
 public:
  /// Reads the whole file once. An Error (Exit::data) names the file, and the token or document,
  /// where it is no token file, shorter or longer than its header says, has another checksum, an id
  /// that the vocabulary lacks, or no document with a token. Empty documents are logged.
  explicit TokenFile(const std::string& path, const FileSystem& files = local_files());

  const TokenVocabulary& vocabulary() const { return vocabulary_; }
  std::int64_t tokens() const;
  std::int64_t empty_documents() const { return empty_; }
  /// Of the whole file.
  const std::string& digest() const { return digest_; }

  std::int64_t documents() const override { return std::ssize(ends_); }
  std::int64_t length(std::int64_t document) const override;
  void copy(const Piece& piece, std::span<std::int64_t> ids) const override;
  std::string name(std::int64_t document) const override;

 private:
  [[noreturn]] void fail(const std::string& why) const;
  void read();
  void read_header(std::string_view text);
  void check_bytes(std::string_view all, std::uint64_t trailer_at);
  void check_ends();
  void check_ids() const;
  std::int64_t begin(std::int64_t document) const;

  MappedFile file_;
  std::string path_, digest_;
  TokenVocabulary vocabulary_;
  std::uint64_t header_documents_ = 0, header_tokens_ = 0, id_bytes_ = 0;
  std::span<const std::uint64_t> ends_;
  std::span<const std::uint16_t> short_ids_;  // one of
  std::span<const std::uint32_t> ids_;        // both
  std::int64_t empty_ = 0;
};

/// Whole or not at all. Ids are written as uint16 where the vocabulary has at most 65,536 tokens.
void write_token_file(const std::string& path, const TokenSource& source,
                      const TokenVocabulary& vocabulary);

}  // namespace ddptrain
