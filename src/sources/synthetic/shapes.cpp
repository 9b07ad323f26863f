#include "sources/synthetic/shapes.h"

#include <fmt/format.h>
#include <turbojpeg.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "sources/synthetic/draw_all.h"
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

struct ShapePlace {
  int split = 0;  // 0: train, 1: val
  int shape = 0;
  int number = 0;
};

fs::path folder_of(const ShapePlace& place) {
  return fs::path(place.split == 0 ? "train" : "val") /
         shape_names.at(static_cast<std::size_t>(place.shape));
}

std::vector<ShapePlace> places_of(const ShapesOptions& options) {
  std::vector<ShapePlace> places;
  for (const int split : {0, 1})
    for (int shape = 0; shape < std::ssize(shape_names); ++shape)
      for (int i = 0; i < (split == 0 ? options.train : options.val); ++i)
        places.push_back({split, shape, i});
  return places;
}

void write_image(const fs::path& folder, const ShapePlace& place, const ShapesOptions& options) {
  const auto key = mix(mix(options.seed, hash_text("shapes")), std::uint64_t(place.split));
  Stream random(key, std::uint64_t(place.shape), std::uint64_t(place.number));
  const auto image = draw_shape(place.shape, options.size, random);
  write_made_file(folder / folder_of(place) / (file_number(place.number) + ".jpg"),
                  encode_jpeg(image));
}

}  // namespace

bool make_shapes(const std::string& folder, const ShapesOptions& options) {
  return make_folder(folder, {".shapes", description(options)}, [&](const fs::path& made) {
    const auto places = places_of(options);
    for (const auto& place : places)
      if (place.number == 0) make_folders((made / folder_of(place)).string());
    draw_all(places.size(), [&](std::size_t i) { write_image(made, places[i], options); });
  });
}

}  // namespace ddptrain
