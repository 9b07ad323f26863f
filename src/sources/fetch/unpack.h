// Unpacks untrusted archives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ddptrain {

/// What an archive may become. Data sets shrink to a tenth at best, texts; what becomes two hundred
/// times as large, or has a file for every few bytes, was made to fill a disk.
struct UnpackLimits {
  std::int64_t bytes;
  std::int64_t members;
  int depth = 64;  // folders in folders

  static UnpackLimits of_archive(std::int64_t size) {
    return {(std::int64_t{64} << 20) + 200 * size, 10'000 + size / 32};
  }
};

/// Unpacks a tar (plain, gz, bz2, xz, zstd) or zip archive into an existing empty folder that
/// only this process writes to, and returns what becomes the data's root: the only folder at the
/// top, or all. Throws an Error (Exit::data) on an entry outside of the folder: an absolute path,
/// `..`, a path through a link, a link that leaves that root; on devices and the like; and on more
/// than the limits.
std::string unpack(const std::string& archive, const std::string& folder);
std::string unpack(const std::string& archive, const std::string& folder,
                   const UnpackLimits& limits);

/// The same of those entries alone whose path in the archive `wanted` takes.
std::string unpack(const std::string& archive, const std::string& folder,
                   const std::function<bool(std::string_view)>& wanted);

}  // namespace ddptrain
