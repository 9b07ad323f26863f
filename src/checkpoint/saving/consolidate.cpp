#include "checkpoint/saving/consolidate.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "checkpoint/block_checksums.h"
#include "checkpoint/manifest.h"
#include "checkpoint/new_folder.h"
#include "checkpoint/tensor_image.h"
#include "checkpoint/verify.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

void write_image(const TensorImage& image, const std::string& path) {
  FileWriter writer(path);
  std::string buffer(static_cast<std::size_t>(kBlockBytes), '\0');
  for (std::uint64_t at = 0; at < image.size(); at += buffer.size()) {
    const auto count = std::min<std::uint64_t>(buffer.size(), image.size() - at);
    image.read(buffer.data(), count, at);
    writer.write({buffer.data(), count});
  }
  writer.finish();
}

void require_room(const Manifest& manifest, const std::string& folder) {
  std::int64_t needed = 1 << 16;
  for (const auto& file : manifest.files) needed += file.written.size;
  const auto free = free_space(folder);
  if (free.unknown.empty() && free.bytes < needed)
    throw Error(Exit::data, "no space for a checkpoint in '{}': {} are needed, {} are free", folder,
                format_bytes(needed), format_bytes(free.bytes));
}

}  // namespace

void consolidate_checkpoint(const std::string& folder, const Manifest& manifest,
                            const std::string& to) {
  auto place = fs::absolute(to).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // it ended with a slash
  const auto name = place.filename().string(), root = place.parent_path().string();
  if (fs::exists(place)) throw Error(Exit::data, "'{}' is there already", to);
  make_folders(root);
  require_room(manifest, root);
  NewFolder made(root, name);
  auto whole = manifest;
  whole.rank_bytes.clear();
  for (auto& file : whole.files) {
    write_image(TensorImage(folder, manifest, file), made.path() + "/" + file.name);
    file.ranges.clear();
  }
  write_file(made.path() + "/MANIFEST.json", to_text(whole));
  if (const auto damages = damages_of(made.path()); !damages.empty())
    throw Error(Exit::data, damages.front());
  made.put_at(root + "/" + name);
}

}  // namespace ddptrain
