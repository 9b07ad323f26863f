// A checkpoint's folder against its manifest.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "checkpoint/manifest.h"

namespace ddptrain {

/// The CRC-32C of a tensor's bytes as eight hexadecimal digits.
std::string tensor_checksum(const at::Tensor& tensor);

/// Who verifies together: each looks at every so many-th block of 1 MiB.
struct BlockShare {
  std::int64_t part = 0, parts = 1;
};

/// Compares a folder with its manifest. Throws an Error (Exit::data) naming the file, and the
/// tensors where that is possible, that is missing, cut, changed or exchanged. What a share leaves
/// out, the others look at.
Manifest verify_checkpoint(const std::string& folder, BlockShare share = {});

/// What is wrong with each file of a checkpoint; empty: it is complete.
std::vector<std::string> damages_of(const std::string& folder);

}  // namespace ddptrain
