// The files in a tar archive, without reading what is in them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/files/file_system.h"

namespace ddptrain {

struct TarMember {
  std::string name;
  std::uint64_t offset = 0;                 // of its first byte in the archive
  std::uint64_t size = 0;                   // bytes
  std::optional<std::string> content = {};  // where it was asked for
};

/// The regular files of an uncompressed tar (ustar, GNU, pax), in their order. The content of those
/// that `wanted` accepts by name and size is read too. Throws an Error (Exit::data) that names the
/// archive, and what is wrong with it: compressed, cut, damaged, a name that is there twice.
std::vector<TarMember> read_tar(const FileSystem& files, const std::string& path,
                                const std::function<bool(const TarMember&)>& wanted);

}  // namespace ddptrain
