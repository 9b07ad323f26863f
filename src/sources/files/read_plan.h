// What readers have announced to read, so that a file is kept until its last read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ddptrain {

/// Not for several threads at once.
class ReadPlan {
 public:
  /// Bytes of a file.
  using SizeOf = std::function<std::uint64_t(const std::string& file)>;

  /// FileSystem::announce.
  void announce(int reader, const std::vector<std::string>& files,
                std::span<const std::int32_t> reads);
  /// Counts a read. Returns whether the file will be read again; a file that was not announced
  /// will not.
  bool did_read(const std::string& file);
  bool is_wanted(const std::string& file) const;
  /// For each reader, the files that it has not read to their end, by their first reads.
  void visit(const std::function<bool(int reader, const std::string& file)>& visit) const;

 private:
  struct Reads {
    std::vector<std::string> order;            // of first reads
    std::map<std::string, std::int64_t> left;  // by file
  };
  std::map<int, Reads> readers_;
};

/// The most bytes that files have together between their first and last reads.
std::uint64_t bytes_at_once(const std::vector<std::string>& files,
                            std::span<const std::int32_t> reads, const ReadPlan::SizeOf& size_of);

}  // namespace ddptrain
