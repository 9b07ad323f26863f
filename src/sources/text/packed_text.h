// Documents as numbers in one file, mapped into memory, so that the ranks of a node share it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_use.h"
#include "sources/files/mapped_file.h"
#include "sources/text/corpus.h"

namespace ddptrain {

/// What is written: documents of both splits, numbers of all tokens one after the other.
struct TextPack {
  struct Part {
    std::vector<Document> documents;
    std::vector<std::int64_t> ends;  // of each document, counted in tokens
    std::vector<std::int32_t> ids;
  };
  bool regression = false;  // Corpus
  std::vector<std::string> classes;
  std::vector<std::string> tokens;  // the vocabulary
  std::int64_t padding = 0;
  std::vector<std::string> notes;  // what a person should know of the texts, whenever they are used
  std::array<Part, 2> parts;       // train, valid
};

class PackedText {
 public:
  /// Nothing where there is no such file, or a damaged one (a checksum says so).
  static std::optional<PackedText> open(const std::string& path);
  /// As if it had been written and opened.
  static PackedText in_memory(const TextPack& pack);
  static std::string encode(const TextPack& pack);

  bool regression() const { return regression_; }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<std::string>& tokens() const { return tokens_; }
  std::int64_t padding() const { return padding_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// Of names, labels and numbers.
  const std::string& digest() const { return digest_; }

  std::int64_t size(std::size_t split) const {
    return static_cast<std::int64_t>(parts_[split].labels.size());
  }
  std::span<const std::int32_t> document(std::size_t split, std::size_t index) const;
  std::int64_t label(std::size_t split, std::size_t index) const {
    return parts_[split].labels[index];
  }
  double number(std::size_t split, std::size_t index) const { return parts_[split].numbers[index]; }
  std::string name(std::size_t split, std::size_t index) const;

 private:
  struct Part {
    std::span<const std::int64_t> ends, labels, name_ends;
    std::span<const double> numbers;
    std::span<const std::int32_t> ids;
    std::string_view names;
  };
  PackedText(MappedFile file, FileUse use) : file_(std::move(file)), use_(std::move(use)) {}
  bool read();

  MappedFile file_;
  FileUse use_;
  bool regression_ = false;
  std::vector<std::string> classes_, tokens_, notes_;
  std::int64_t padding_ = 0;
  std::string digest_;
  std::array<Part, 2> parts_;
};

}  // namespace ddptrain
