// MANIFEST.json: what a complete checkpoint consists of, to the last bit.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/file_writer.h"

namespace ddptrain {

/// A range in a rank's file has the same place in a page as in the file of tensors, so that readers
/// can map it there. What lies between ranges is zeros, and has no meaning.
inline constexpr std::int64_t kPageOfRanks = 4096;

/// Bytes of a file of tensors that lie in a rank's file (checkpoint/saving/rank_file.h).
struct FileRange {
  std::int64_t first = 0;  // in the file of tensors
  std::int64_t count = 0;
  std::int64_t rank = 0;
  std::int64_t at = 0;  // in the rank's file
};

struct ManifestFile {
  std::string name;
  /// Of the whole file. With `in_blocks` the digest is that of what stands before the tensors.
  WrittenFile written;
  /// By name: with `in_blocks` the checksums of its blocks (checkpoint/block_checksums.h), else the
  /// CRC-32C of the tensor.
  std::vector<std::pair<std::string, std::string>> tensors;
  bool in_blocks = false;
  /// In order, without gaps, where its bytes lie in files of ranks; empty: it is a file itself.
  std::vector<FileRange> ranges = {};
};

struct Manifest {
  std::int64_t step = 0;
  std::vector<ManifestFile> files;
  /// Bytes of each rank's file, of 0 there is none; empty: ranks have no files of their own.
  std::vector<std::int64_t> rank_bytes = {};
};

/// "rank-00001-of-00004.bin"
std::string rank_file_name(std::int64_t rank, std::int64_t ranks);

/// As JSON whose last entry is the digest of the text itself.
std::string to_text(const Manifest& manifest);

/// The manifest that a text is: of format 1, in which files have a digest of their own, 2, or 3,
/// which has files of ranks. Throws an Error (Exit::data) that begins with `file`.
Manifest parse_manifest(const std::string& text, const std::string& file);

}  // namespace ddptrain
