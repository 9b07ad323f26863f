// A zip file as torch.save writes it: entries by name, read at their places (APPNOTE 6.3).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/files/files.h"

namespace ddptrain {

/// The directory at the file's end decides what there is. Throws an Error (Exit::data) that names
/// the file where it is damaged, encrypted, made of several, or would unpack to much more than it
/// has (torch itself never compresses).
class ZipFile {
 public:
  explicit ZipFile(const InputFile& file);
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;

  bool contains(std::string_view name) const { return entries_.contains(name); }
  /// Bytes of an entry that is there, unpacked.
  std::uint64_t size(std::string_view name) const { return entries_.at(name).size; }
  /// Fills `to`, which has room for the entry's size, and compares the checksum.
  void read(std::string_view name, char* to) const;
  std::string read(std::string_view name) const;
  /// Whether entries lack checksums (torch.serialization.set_crc32_options(False)).
  bool unchecked() const { return unchecked_; }

 private:
  struct Entry {
    std::uint64_t size = 0, packed = 0, header = 0;
    std::uint32_t checksum = 0;
    bool compressed = false;
  };

  [[noreturn]] void refuse(const std::string& what) const;
  void read_directory(std::uint64_t at, std::uint64_t size);
  std::size_t add_entry(std::string_view rest);
  void read_zip64(std::string_view fields, const std::string& quoted, Entry& entry) const;
  void check_entry(std::string_view record, const std::string& quoted, const Entry& entry) const;
  void check_sizes() const;
  void inflate(const std::string& packed, const std::string& name, char* to,
               std::uint64_t size) const;

  const InputFile& file_;
  std::string directory_;
  std::map<std::string_view, Entry> entries_;  // by name without the folder
  bool unchecked_ = false;
};

}  // namespace ddptrain
