// Where a writer's parts of tensors go: into the files that all writers share, or into one of its
// own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/manifest.h"

namespace ddptrain {

/// Bytes to their places in files of tensors. Errors (Exit::data) name the file and the reason.
class PartSink {
 public:
  virtual ~PartSink() = default;
  virtual void write(const std::string& file, std::int64_t at, std::string_view bytes) = 0;
  /// What was written is on disk, and the files are closed.
  virtual void flush() = 0;
};

/// Files in a folder that have their full length already.
class SharedFiles final : public PartSink {
 public:
  explicit SharedFiles(std::string folder) : folder_(std::move(folder)) {}
  ~SharedFiles() override;
  SharedFiles(const SharedFiles&) = delete;
  SharedFiles& operator=(const SharedFiles&) = delete;
  void write(const std::string& file, std::int64_t at, std::string_view bytes) override;
  void flush() override;

 private:
  std::string folder_;
  std::map<std::string, int> open_;
};

/// The file of one rank, which is there once something is written. No two writers open the same
/// file: that is all that close-to-open consistency allows (nfs(5), "Data and metadata coherence").
class RankFile final : public PartSink {
 public:
  RankFile(const std::string& folder, std::int64_t rank, std::int64_t ranks);
  ~RankFile() override;
  RankFile(const RankFile&) = delete;
  RankFile& operator=(const RankFile&) = delete;
  void write(const std::string& file, std::int64_t at, std::string_view bytes) override;
  void flush() override;

  std::int64_t size() const { return size_; }
  /// By file of tensors, in the order of writing.
  const std::map<std::string, std::vector<FileRange>>& ranges() const { return ranges_; }

 private:
  std::string path_;
  std::int64_t rank_;
  int file_ = -1;
  std::int64_t size_ = 0;
  std::map<std::string, std::vector<FileRange>> ranges_;
  const std::vector<FileRange>* last_ = nullptr;  // those of the file written last
};

}  // namespace ddptrain
