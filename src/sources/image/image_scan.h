// Images below a folder, by their extensions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sources/files/file_system.h"

namespace ddptrain {

/// What counts as an image unless a recipe says otherwise.
std::vector<std::string> image_extensions();

/// Files and folders whose name begins with a dot are left out everywhere.
bool is_hidden(const std::filesystem::path& path);

class ImageScan {
 public:
  /// Extensions with their dot, whatever the case of the letters.
  ImageScan(std::filesystem::path root, const std::vector<std::string>& extensions,
            const FileSystem& files = local_files());

  /// Images in a folder of root and the folders in it, relative to root, sorted bytewise.
  std::vector<std::string> images(const std::string& folder) const;

 private:
  bool is_image(const std::filesystem::path& path) const;

  const FileSystem& files_;
  std::filesystem::path root_;
  std::vector<std::string> extensions_;
};

}  // namespace ddptrain
