// A file in memory that ranks of one node share.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ddptrain {

class MappedFile {
 public:
  /// Throws an Error (Exit::data) that names the file.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::uint8_t> bytes() const { return {data_, size_}; }

 private:
  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ddptrain
