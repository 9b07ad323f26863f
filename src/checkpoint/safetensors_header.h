// The JSON header of a safetensors file: what lies where.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

struct TensorEntry {
  std::string name;
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;  // in the data, which follows the header
  std::int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;
  std::map<std::string, std::string> metadata;
};

/// "BF16" for c10::ScalarType::BFloat16; null for a type that the format lacks.
const char* safetensors_dtype(c10::ScalarType dtype);

/// With its length in front, padded to a multiple of 8.
std::string to_text(const SafetensorsHeader& header);

/// Parses the JSON of a file with `data_size` bytes of data. Throws an Error (Exit::data) that
/// begins with `file`.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::int64_t data_size,
                                           const std::string& file);

}  // namespace ddptrain
