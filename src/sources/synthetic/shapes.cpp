#include "sources/synthetic/shapes.h"

#include <fmt/format.h>
#include <turbojpeg.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/long_work.h"
#include "sources/synthetic/made_folder.h"
#include "sources/synthetic/shapes_image.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr int quality = 90;

std::string description(const ShapesOptions& options) {
  return fmt::format("shapes 1: seed {}, train {}, val {}, size {}\n", options.seed, options.train,
                     options.val, options.size);
}

/// Colors at half resolution, the slow accurate transform: the same bytes on every machine.
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

void write_split(const fs::path& folder, int split, int count, const ShapesOptions& options,
                 LongWork& work) {
  for (std::size_t shape = 0; shape < shape_names.size(); ++shape) {
    const fs::path place = folder / shape_names[shape];
    make_folders(place);
    for (int i = 0; i < count; ++i) {
      const auto key = mix(mix(options.seed, hash_text("shapes")), std::uint64_t(split));
      Stream random(key, shape, std::uint64_t(i));
      const Image image = draw_shape(static_cast<int>(shape), options.size, random);
      write_made_file(place / (file_number(i) + ".jpg"), encode_jpeg(image));
      work.did();
    }
  }
}

}  // namespace

bool make_shapes(const std::string& folder, const ShapesOptions& options) {
  return make_folder(folder, {".shapes", description(options)}, [&](const fs::path& made) {
    LongWork work("drawing images",
                  static_cast<std::int64_t>(shape_names.size()) * (options.train + options.val));
    write_split(made / "train", 0, options.train, options, work);
    write_split(made / "val", 1, options.val, options, work);
  });
}

}  // namespace ddptrain
