// Files that are cells of Parquet files: "data/train-00000.parquet/000012" is row 12.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sources/files/file_system.h"
#include "sources/files/read_plan.h"
#include "sources/parquet/plugin.h"

namespace ddptrain {

/// A row group is read whole, and kept until the last of the reads that were announced; without an
/// announcement a few that were used last are kept. Paths of other files are those of `files`,
/// which must outlive this.
class ParquetImages final : public FileSystem {
 public:
  /// `memory` bounds the bytes of row groups that announced reads need at once.
  ParquetImages(const FileSystem& files, std::uint64_t memory) : files_(files), memory_(memory) {}

  /// Makes the cells of a column readable. Errors (Exit::data): no such column, or one that holds
  /// no bytes.
  const ParquetFile& add(const std::string& path, const std::string& column);
  static std::string row_name(std::int64_t row);
  /// What announce() calls a row group of a file.
  static std::string group_name(const std::string& path, std::size_t group);

  FileInfo info(const std::string& path) const override;
  std::string list(const std::string& folder, const VisitEntry& visit) const override;
  std::string list_beginning(const std::string& folder, const std::string& begin,
                             const VisitEntry& visit) const override;
  std::string read(const std::string& path, std::uint64_t offset,
                   std::uint64_t most) const override;
  MappedFile map(const std::string& path) const override;
  /// An Error (Exit::data) names data.memory where row groups that are read at once have more
  /// bytes.
  void announce(int reader, const std::vector<std::string>& groups,
                std::span<const std::int32_t> reads) const override;

 private:
  struct File {
    explicit File(MappedFile mapped) : bytes(std::move(mapped)) {}
    MappedFile bytes;
    std::unique_ptr<ParquetFile> parquet;
    std::size_t column = 0;
    std::vector<std::int64_t> ends;  // row behind each row group
    mutable std::mutex reading;
  };
  using Cells = std::vector<std::string>;
  struct Found {
    const File* file = nullptr;  // null: the path is in none
    std::string path;
    std::size_t group = 0;
    std::size_t row = 0;  // in the group
    bool is_there = false;
  };
  Found find(const std::string& path) const;
  std::shared_ptr<const Cells> cells_of(const Found& found) const;
  std::shared_ptr<const Cells> read_cells(const Found& found) const;
  void keep(const std::string& name, std::shared_ptr<const Cells> cells) const;

  const FileSystem& files_;
  std::uint64_t memory_;
  std::map<std::string, File> parquet_;
  mutable std::mutex mutex_;
  mutable ReadPlan plan_;
  mutable std::map<std::string, std::shared_ptr<const Cells>> kept_;  // by group_name
  mutable std::list<std::string>
      others_;  // of them, those that are in no plan; the last used first
};

}  // namespace ddptrain
