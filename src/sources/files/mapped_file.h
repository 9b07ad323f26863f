// A file in memory: mapped, so that ranks of one node share it, inflated if it is compressed, or
// bytes that came from elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files/mapping_guard.h"

namespace ddptrain {

class InputFile;

class MappedFile {
 public:
  /// A file of this machine. What begins like gzip is inflated: up to 64 MiB, or 200 times its
  /// size, and to 4 GiB at most. Throws an Error (Exit::data) that names the file. One that is cut
  /// later reads as zeros (base/files/mapping_guard.h).
  explicit MappedFile(const std::string& path);
  /// The same of a copy of the file `name`, which messages name.
  MappedFile(const std::string& copy, const std::string& name);
  /// The bytes of a file that lies elsewhere: inflated and refused alike.
  MappedFile(std::vector<std::uint8_t> bytes, const std::string& path);
  /// What would be in a file that has no other reader.
  explicit MappedFile(std::vector<std::uint8_t> bytes) : own_(std::move(bytes)) {}
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::uint8_t> bytes() const {
    return own_.empty() ? std::span<const std::uint8_t>{data_, size_}
                        : std::span<const std::uint8_t>{own_};
  }

 private:
  void map(const InputFile& file);
  void inflate();
  void release();

  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::uint8_t> own_;
  std::optional<MappingGuard> guard_;
};

}  // namespace ddptrain
