#include "sources/image/image_scan.h"

#include <algorithm>

#include "base/output/long_work.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::vector<std::string> image_extensions() { return {".jpg", ".jpeg", ".png", ".webp"}; }

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

ImageScan::ImageScan(fs::path root, const std::vector<std::string>& extensions,
                     const FileSystem& files)
    : files_(files), root_(std::move(root)) {
  for (const auto& extension : extensions) extensions_.push_back(lower(extension));
}

std::vector<std::string> ImageScan::images(const std::string& folder) const {
  std::vector<std::string> paths;
  const auto place = (root_ / folder).string();
  LongWork work("listing '" + place + "'");
  walk(files_, place, [&](const FileEntry& entry) {
    work.did();
    const fs::path path = entry.path;
    if (is_hidden(path)) return false;
    if (entry.kind != FileKind::folder && is_image(path))
      paths.push_back(path.lexically_relative(root_).string());
    return true;
  });
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool ImageScan::is_image(const fs::path& path) const {
  const auto extension = lower(path.extension().string());
  return std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
}

}  // namespace ddptrain
