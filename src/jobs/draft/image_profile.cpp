#include "jobs/draft/image_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/files/files.h"
#include "jobs/draft/draft.h"
#include "sources/image/image_scan.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

EncodedImage as_encoded(const std::string& bytes, const std::string& name) {
  return {{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name};
}

bool is_gray(const EncodedImage& file) {
  const auto image = decode(file);
  for (std::size_t i = 0; i + 2 < image.bytes.size(); i += 3) {
    const auto [low, high] = std::minmax({image.bytes[i], image.bytes[i + 1], image.bytes[i + 2]});
    if (high - low > 12) return false;
  }
  return true;
}

}  // namespace

ImageProfile image_profile(const std::vector<std::string>& paths) {
  constexpr std::size_t decoded = 12;
  ImageProfile profile;
  std::optional<ImageSize> first;
  for (std::size_t i = 0; i < paths.size(); ++i) try {
      const auto bytes = read_text(paths[i]);
      const auto file = as_encoded(bytes, paths[i]);
      const auto size = image_size(file);
      if (i % std::max<std::size_t>(1, paths.size() / decoded) == 0 && profile.gray)
        profile.gray = is_gray(file);
      profile.shorts.push_back(std::min(size.width, size.height));
      profile.longest = std::max({profile.longest, size.width, size.height});
      profile.one_size = profile.one_size && size == first.value_or(size);
      if (!first) profile.first = size;
      first = size;
    } catch (const Error& error) {
      profile.unreadable.emplace_back(error.what());
    }
  if (profile.shorts.empty())
    throw Error(Exit::data, "no image could be read: {}", profile.unreadable.at(0));
  std::sort(profile.shorts.begin(), profile.shorts.end());
  return profile;
}

std::string sizes_text(const ImageProfile& profile) {
  const auto low = std::to_string(profile.shorts.front());
  const auto high = std::to_string(profile.longest);
  const std::string color = profile.gray ? ", gray" : "";
  return (low == high ? low + " px" : fmt::format("{} to {} px", low, high)) + color;
}

int epochs_for(std::int64_t training) { return training < 2000 ? 20 : training < 20000 ? 10 : 5; }

std::vector<std::string> some_of(const std::vector<std::string>& all, std::size_t most) {
  const auto step = std::max<std::size_t>(1, all.size() / most);
  std::vector<std::string> some;
  for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

void note_other_formats(const std::string& root, std::vector<std::string>& found) {
  const std::vector<std::string> others{".gif", ".bmp", ".tif", ".tiff", ".heic", ".avif"};
  const auto files = ImageScan(root, others).images(".");
  if (files.empty()) return;
  found.push_back(fmt::format("{} such as '{}' left out; JPEG, PNG and WebP are read",
                              counted(static_cast<std::int64_t>(files.size()), "file"), files[0]));
}

std::vector<std::string> paths_below(const std::string& root,
                                     const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const auto& path : paths) all.push_back((fs::path(root) / path).string());
  return all;
}

std::string policy_lines(const ImageProfile& profile, std::vector<std::string>& found) {
  if (profile.unreadable.empty()) return {};
  found.push_back(counted(static_cast<std::int64_t>(profile.unreadable.size()), "image") +
                  " cannot be read and will be left out: " + profile.unreadable[0]);
  return "policy: {on_bad_sample: skip, bad_samples: 5 %}   # some images cannot be read\n";
}

}  // namespace ddptrain
