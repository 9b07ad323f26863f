// The bytes of a file of tensors, however they lie on the disk.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "checkpoint/manifest.h"

namespace ddptrain {

/// A file of tensors: one on the disk, or ranges in files of ranks. Errors (Exit::data) name the
/// file that cannot be read.
class TensorImage {
 public:
  explicit TensorImage(const std::string& path);
  /// One that a checkpoint's manifest lists.
  TensorImage(const std::string& folder, const Manifest& manifest, const ManifestFile& listed);

  /// What errors call it: a file of ranks does not have this name.
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Exactly `count` bytes from `offset` on, which the image has.
  void read(char* to, std::uint64_t count, std::uint64_t offset) const;
  /// Maps the whole image at `to`, which is reserved for it and begins a page: privately, so that
  /// what is written there changes no file.
  void map(char* to) const;
  /// The files that have the bytes of [offset, offset + count).
  std::vector<std::string> holders(std::uint64_t offset, std::uint64_t count) const;

 private:
  /// Calls visit(file, place in it, bytes, place in the image) for each range of a part.
  template <class Visit>
  void visit(std::uint64_t offset, std::uint64_t count, const Visit& visit) const;
  const InputFile& file_of(const FileRange& range) const;
  std::string name_of(const FileRange& range) const;

  std::string path_, folder_;
  std::uint64_t size_ = 0;
  std::vector<FileRange> ranges_;                   // at least one, but for an image without bytes
  std::int64_t ranks_ = 0;                          // 0: it is a file
  mutable std::map<std::int64_t, InputFile> open_;  // those used last, by rank
};

}  // namespace ddptrain
