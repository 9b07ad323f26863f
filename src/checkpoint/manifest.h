// MANIFEST.json: what a complete checkpoint consists of, to the last bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/file_writer.h"

namespace ddptrain {

struct ManifestFile {
  std::string name;
  WrittenFile written;
  std::vector<std::pair<std::string, std::string>> tensors;  // name, CRC-32C: to name a damaged one
};

struct Manifest {
  std::int64_t step = 0;
  std::vector<ManifestFile> files;
};

/// As JSON whose last entry is the digest of the text itself.
std::string to_text(const Manifest& manifest);

/// The manifest that a text is. Throws an Error (Exit::data) that begins with `file`.
Manifest parse_manifest(const std::string& text, const std::string& file);

}  // namespace ddptrain
