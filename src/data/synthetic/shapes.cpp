#include "data/synthetic/shapes.h"

#include <turbojpeg.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "data/synthetic/shapes_image.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* mark = ".shapes";  // says what a finished folder holds
constexpr int quality = 90;

std::string description(const ShapesOptions& options) {
  return "shapes 1: seed " + std::to_string(options.seed) + ", train " +
         std::to_string(options.train) + ", val " + std::to_string(options.val) + ", size " +
         std::to_string(options.size) + "\n";
}

/// Colours at half resolution, the slow accurate transform: the same bytes on every machine.
std::string encode_jpeg(const Image& image) {
  const std::unique_ptr<void, int (*)(void*)> encoder(tjInitCompress(), tjDestroy);
  DDP_CHECK(encoder != nullptr, tjGetErrorStr2(nullptr));
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const int failed = tjCompress2(encoder.get(), image.bytes.data(), image.width, 0, image.height,
                                 TJPF_RGB, &bytes, &size, TJSAMP_420, quality, TJFLAG_ACCURATEDCT);
  DDP_CHECK(failed == 0, tjGetErrorStr2(encoder.get()));
  std::string encoded(reinterpret_cast<char*>(bytes), size);
  tjFree(bytes);
  return encoded;
}

std::string number(int i) {
  std::string text = std::to_string(i);
  return std::string(4 - std::min<std::size_t>(4, text.size()), '0') + text;
}

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) throw Error(Exit::data, "cannot write '" + path.string() + "': is the disk full?");
}

void write_split(const fs::path& folder, int split, int count, const ShapesOptions& options) {
  for (std::size_t shape = 0; shape < shape_names.size(); ++shape) {
    const fs::path place = folder / shape_names[shape];
    make_folders(place);
    for (int i = 0; i < count; ++i) {
      const auto key = mix(mix(options.seed, hash_text("shapes")), std::uint64_t(split));
      Stream random(key, shape, std::uint64_t(i));
      const Image image = draw_shape(static_cast<int>(shape), options.size, random);
      write_file(place / (number(i) + ".jpg"), encode_jpeg(image));
    }
  }
}

/// True when the folder is there and holds what is asked for; an Error when it holds anything else.
bool is_complete(const fs::path& folder, const ShapesOptions& options) {
  if (!fs::exists(folder)) return false;
  const bool is_folder = fs::is_directory(folder);
  if (is_folder && fs::exists(folder / mark)) {
    const std::string holds = read_text(folder / mark);
    if (holds == description(options)) return true;
    throw Error(Exit::data, "'" + folder.string() + "' holds other images (" +
                                holds.substr(0, holds.find('\n')) +
                                "); remove it, or choose another folder");
  }
  if (is_folder && fs::is_empty(folder)) return false;
  throw Error(Exit::data, "'" + folder.string() +
                              "' is not empty and was not made by this command; choose another "
                              "folder");
}

}  // namespace

bool make_shapes(const std::string& folder, const ShapesOptions& options) {
  fs::path target(folder);
  if (!target.has_filename()) target = target.parent_path();  // a trailing slash
  if (is_complete(target, options)) return false;
  const fs::path temporary = temporary_name(target.string());
  make_folders(temporary);
  write_split(temporary / "train", 0, options.train, options);
  write_split(temporary / "val", 1, options.val, options);
  write_file(temporary / mark, description(options));
  fs::rename(temporary, target);
  return true;
}

}  // namespace ddptrain
