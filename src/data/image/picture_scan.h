// Pictures below a folder, by their extensions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ddptrain {

/// What counts as a picture unless a recipe says otherwise.
std::vector<std::string> picture_extensions();

/// Files and folders whose name begins with a dot are left out everywhere.
bool is_hidden(const std::filesystem::path& path);

class PictureScan {
 public:
  /// Extensions with their dot, whatever the case of the letters.
  PictureScan(std::filesystem::path root, const std::vector<std::string>& extensions);

  /// Pictures in a folder of root and the folders in it, relative to root, sorted bytewise.
  std::vector<std::string> pictures(const std::string& folder) const;

 private:
  bool is_picture(const std::filesystem::path& path) const;

  std::filesystem::path root_;
  std::vector<std::string> extensions_;
};

}  // namespace ddptrain
