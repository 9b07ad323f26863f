// Decoded images in one mapped file, which the processes of a machine fill and read together.
//
//   header | words: 0, or where an entry lies | entries: what an image is, then its pixels
//
// An entry is written whole into space of its own; then one compare-and-exchange puts it into its
// word. A process that is killed leaves space unused, never a torn entry, and a file of an earlier
// boot, of which a part may not have reached the disk, is replaced.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/files/file_use.h"
#include "base/files/mapping_guard.h"
#include "sources/files/file_system.h"
#include "transforms/codecs/decode.h"

namespace ddptrain {

/// A file as it is now: another key after each change.
struct PixelKey {
  std::array<std::uint64_t, 2> name{};  // of its path
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;
  bool operator==(const PixelKey&) const = default;
};
PixelKey pixel_key(const std::string& path, const FileInfo& info);

/// An image at a scale (transforms/codecs/decode.h).
struct DecodedPixels {
  ImageSize size;       // of the image itself
  int shrink = 1;       // by which it was scaled down
  bool scales = false;  // whether its file can be scaled while decoding
  PixelView pixels;
};

class PixelCache {
 public:
  struct Options {
    std::string folder;       // made where it is missing
    std::string name;         // of the file in it: equal for equal images
    std::int64_t images = 0;  // how many there are to be
    std::int64_t size = 0;    // bytes the file may have
  };
  /// Opens the file of this machine, or makes it: processes agree on one. Throws an Error
  /// (Exit::data) where it cannot be made.
  explicit PixelCache(const Options& options);
  ~PixelCache();
  PixelCache(const PixelCache&) = delete;
  PixelCache& operator=(const PixelCache&) = delete;

  /// The image scaled down by `shrink`, or by whatever is here if that is 0. Its pixels live as
  /// long as the cache.
  std::optional<DecodedPixels> find(const PixelKey& key, int shrink) const;
  /// Whether so many bytes of pixels may be added. The first time that they may not is logged.
  bool has_room(std::uint64_t bytes) const;
  /// Of rows without gaps. Nothing happens where there is no room, or the disk is full: that is
  /// warned of once.
  void add(const PixelKey& key, const DecodedPixels& image) const;

  const std::string& path() const { return path_; }

 private:
  struct Header;
  struct Entry;
  bool opened_existing();
  void make_new();
  void map();
  Header& header() const;
  std::span<std::uint64_t> words() const;
  const Entry* entry_at(std::uint64_t word) const;
  std::uint64_t reserve(std::uint64_t bytes) const;
  bool write(std::uint64_t at, const Entry& entry, const PixelView& pixels) const;
  void publish(const Entry& entry, std::uint64_t at) const;
  bool stop() const;

  std::string path_;
  std::uint64_t limit_;  // bytes of the file
  std::uint64_t slots_;  // words, a power of two
  int file_ = -1;
  std::uint8_t* data_ = nullptr;
  std::optional<MappingGuard> guard_;
  std::optional<FileUse> use_;
};

/// ddptrain/images in the user's cache folder.
std::string default_pixel_cache();

}  // namespace ddptrain
