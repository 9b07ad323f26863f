// A file that only grows, a whole line or record at a time.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

class AppendFile {
 public:
  /// Errors (Exit::data) name the file.
  explicit AppendFile(const std::string& path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  void write(std::string_view bytes);

 private:
  std::string path_;
  int file_;
};

}  // namespace ddptrain
