// Files and links that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace ddptrain {

/// A temporary file next to `path`, which takes its place at commit(); without that it is deleted.
/// Errors (Exit::data) name `path`.
class AtomicFile {
 public:
  enum class Readers { usual, owner };  // as the umask says, or the owner alone
  explicit AtomicFile(std::string path, Readers readers = Readers::usual);
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

/// The path and ".tmp" and 64 random bits: no name at which another process could have put a link.
/// Open it with O_EXCL and O_NOFOLLOW.
std::string temporary_name(const std::string& path);

/// Makes `link` lead to `target`, whatever link it was: under a name that no other
/// process can know, then renamed. Why not, where the file system or the folder does not take it.
std::error_code replace_link(const std::string& link, const std::string& target);

}  // namespace ddptrain
