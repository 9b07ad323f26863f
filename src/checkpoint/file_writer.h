// A new file that knows its digest when it is done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files/digest.h"

namespace ddptrain {

struct WrittenFile {
  std::int64_t size = 0;
  std::string sha256;
};

/// Bytes to a file that must not exist yet. Errors (Exit::data) name it; a file that was not
/// finished is deleted.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  void write(std::string_view bytes);
  /// On disk when it returns.
  WrittenFile finish();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  int file_;
  std::int64_t size_ = 0;
  Digest digest_{DigestKind::sha256};
};

/// A whole text as a new file, on disk when it returns.
WrittenFile write_file(const std::string& path, std::string_view text);

}  // namespace ddptrain
