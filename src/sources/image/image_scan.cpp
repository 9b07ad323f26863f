#include "sources/image/image_scan.h"

#include <algorithm>

#include "base/error.h"
#include "base/output/long_work.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

template <class Visit>
void visit_all(const fs::path& folder, const Visit& visit) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  LongWork work("listing '" + folder.string() + "'");
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (is_hidden(at->path()))
      at.disable_recursion_pending();
    else
      visit(*at);
    work.did();
  }
  if (error)
    throw Error(Exit::data, "cannot read folder '" + folder.string() + "': " + error.message());
}

}  // namespace

std::vector<std::string> image_extensions() { return {".jpg", ".jpeg", ".png", ".webp"}; }

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

ImageScan::ImageScan(fs::path root, const std::vector<std::string>& extensions)
    : root_(std::move(root)) {
  for (const auto& extension : extensions) extensions_.push_back(lower(extension));
}

std::vector<std::string> ImageScan::images(const std::string& folder) const {
  std::vector<std::string> paths;
  visit_all(root_ / folder, [&](const auto& entry) {
    std::error_code unknown;
    if (!is_image(entry.path()) || entry.is_directory(unknown)) return;
    paths.push_back(entry.path().lexically_relative(root_).string());
  });
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool ImageScan::is_image(const fs::path& path) const {
  const auto extension = lower(path.extension().string());
  return std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
}

}  // namespace ddptrain
