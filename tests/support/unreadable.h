// A folder that this process may not read, whichever user runs it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace ddptrain::test {

/// Takes the rights of a folder away while it lives; where root runs the tests, to whom rights mean
/// nothing, another user does meanwhile. It lies in a folder of the system's for temporary files.
class Unreadable {
 public:
  explicit Unreadable(const std::string& folder) : folder_(folder) {
    using std::filesystem::perms;
    const auto outside = std::filesystem::temp_directory_path();
    for (auto above = folder_.parent_path(); above != outside && above.has_relative_path();
         above = above.parent_path())
      std::filesystem::permissions(above, perms::all);
    std::filesystem::permissions(folder_, perms::none);
    if (::geteuid() == 0) was_root_ = ::seteuid(nobody) == 0;
  }
  ~Unreadable() {
    if (was_root_ && ::seteuid(0) != 0) ::_exit(1);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  }
  Unreadable(const Unreadable&) = delete;
  Unreadable& operator=(const Unreadable&) = delete;

  /// False where this system does not let root become another user.
  bool holds() const { return ::geteuid() != 0; }

 private:
  static constexpr uid_t nobody = 65534;
  std::filesystem::path folder_;
  bool was_root_ = false;
};

}  // namespace ddptrain::test
