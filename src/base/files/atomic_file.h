// A file that is written piece by piece and appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

/// A temporary file beside `path`, which takes its place at commit(); without that it is deleted.
/// Errors (Exit::data) name `path`.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::string_view bytes);
  /// On disk when it returns.
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::string temporary_;  // empty once it has its name
  int file_ = -1;
};

}  // namespace ddptrain
