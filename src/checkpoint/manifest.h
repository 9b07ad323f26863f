// MANIFEST.json: what a complete checkpoint consists of, to the last bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"

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

/// The CRC-32C of a tensor's bytes as eight hexadecimal digits.
std::string tensor_checksum(const at::Tensor& tensor);

/// As JSON whose last entry is the digest of the text itself.
std::string to_text(const Manifest& manifest);

/// Compares a folder with its manifest. Throws an Error (Exit::data) naming the file, and the
/// tensors where that is possible, that is missing, cut, changed or exchanged.
Manifest verify_checkpoint(const std::string& folder);

}  // namespace ddptrain
