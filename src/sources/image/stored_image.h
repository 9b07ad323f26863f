// Images of files, decoded, or from a cache of decoded ones: the same pixels.
//
//   LazyPixelCache      a dataset's cache, opened when the first image is wanted
//     -> PixelCache     the file, for all processes of the machine
//   StoredImage         one image: what is in the cache, else its file, which is added
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sources/files/file_system.h"
#include "sources/image/pixel_cache.h"
#include "transforms/codecs/source_image.h"

namespace ddptrain {

class LazyPixelCache {
 public:
  explicit LazyPixelCache(PixelCache::Options options) : options_(std::move(options)) {}

  /// Null where the cache cannot be opened, which is warned of once.
  const PixelCache* cache() const;

 private:
  PixelCache::Options options_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const PixelCache> cache_;
};

/// An image at a path. Its file is read when it has to be decoded.
class StoredImage final : public SourceImage {
 public:
  struct Place {
    const FileSystem& files;
    const std::string& path;  // both outlive the image
  };
  /// `cache` may be null.
  StoredImage(const Place& place, const DecodeOptions& options, const PixelCache* cache);

  std::string_view name() const override { return place_.path; }
  ImageSize size() override;
  void decode(Image& into) override;
  void decode_window(const DecodedWindow& asked, Image& work, Image& into) override;

 private:
  EncodedImage encoded();
  bool scales();
  std::optional<DecodedPixels> found(int shrink) const;
  bool added(int shrink, Image& into);

  Place place_;
  DecodeOptions options_;
  const PixelCache* cache_;
  PixelKey key_;
  std::optional<std::string> bytes_;
  std::optional<DecodedPixels> some_;  // at any scale
};

}  // namespace ddptrain
