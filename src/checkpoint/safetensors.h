// Tensors by name in one file that Python opens at once (huggingface/safetensors, format 1).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoint/file_writer.h"
#include "models/module.h"

namespace ddptrain {

class TensorImage;

struct Safetensors {
  std::vector<NamedTensor> tensors;  // in file order
  std::map<std::string, std::string> metadata;
};

/// Written whole or not at all (temporary file, fsync, rename). Same tensors, same bytes. Throws an
/// Error (Exit::data).
WrittenFile write_safetensors(const std::string& path, const Safetensors& content);

/// Tensors on the CPU. Refuses a header that is too large, offsets that overlap, leave gaps or run
/// out of the file, and sizes that overflow: an Error (Exit::data) naming the file and the tensor.
Safetensors read_safetensors(const std::string& path);
Safetensors read_safetensors(const TensorImage& file);

/// The same of a mapped file, which is read where tensors are: to copy them takes the memory of one
/// at a time. Tensors may be written to, the file stays as it is. Of a file that is cut meanwhile
/// they are zeros, and check_mapped_files() fails (base/files/mapping_guard.h).
Safetensors map_safetensors(const std::string& path);
Safetensors map_safetensors(const TensorImage& file);

}  // namespace ddptrain
