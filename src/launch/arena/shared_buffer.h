// Buffers of the ranks of a machine that each of them can read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddptrain {

/// As many bytes for each member of a group, in a file without a name that all of them have open.
class SharedBuffer {
 public:
  /// Where it begins in each rank's part of the file: all members say the same, at which nothing
  /// else is.
  struct Place {
    int file;
    std::uint64_t begin;
    std::size_t bytes;
  };

  /// Reserves what is this process's, that of `ranks[member]`, zeroed.
  SharedBuffer(const Place& place, std::span<const int> ranks, int member);
  /// Unmaps all, and frees what is this process's.
  ~SharedBuffer();
  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;

  /// False where memory has ended, or files have a limit (ulimit -f).
  bool is_reserved() const { return reserved_; }
  /// Maps what every member has reserved. False where the system refuses.
  bool map();
  std::size_t bytes() const { return place_.bytes; }
  /// Mapped.
  std::byte* of(int member) const { return parts_[static_cast<std::size_t>(member)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

 private:
  std::uint64_t begin_of(int member) const;

  Place place_;
  std::vector<int> ranks_;
  int member_;
  bool reserved_;
  std::vector<std::byte*> parts_;
};

/// A file in memory, without a name, for SharedBuffer; -1 where the system has none.
int make_buffer_file();

}  // namespace ddptrain
