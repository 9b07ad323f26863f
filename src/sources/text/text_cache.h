// The folder of packed texts: each made once for all processes of a machine, and removed when it
// has not been used for long.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "sources/text/packed_text.h"

namespace ddptrain {

/// ddptrain/text below $XDG_CACHE_HOME, ~/.cache, or the folder for temporary files.
std::string default_text_cache();

std::string text_cache_file(const std::string& folder, const std::string& key);

/// The file `key` in a folder; made by the first process that wants it while the others wait, and
/// rebuilt where it is damaged. Making one prunes the folder. Throws an Error (Exit::data)
/// where the folder cannot be written.
PackedText cached_text(const std::string& folder, const std::string& key,
                       const std::function<TextPack()>& make);

/// What stays in the folder: as much as `bytes`, used within `unused`. What was used within `fresh`
/// stays whatever there is.
struct TextCacheLimits {
  std::uintmax_t bytes = std::uintmax_t{20} << 30;
  std::chrono::seconds unused = std::chrono::hours(24 * 60);
  std::chrono::seconds fresh = std::chrono::hours(1);
};

/// Removes the packed texts that are not in use, the least recently used first. Other
/// files are left alone.
void prune_text_cache(const std::string& folder, const TextCacheLimits& limits = {});

}  // namespace ddptrain
