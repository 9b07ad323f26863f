// The JSON header of a safetensors file: what lies where.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

class TensorImage;

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
  std::uint64_t size = 0;  // of a file that was read: where its data begin
};

/// "BF16" for c10::ScalarType::BFloat16; null for a type that the format lacks.
const char* safetensors_dtype(c10::ScalarType dtype);

/// Of the tensor's elements.
std::int64_t bytes_of(const TensorEntry& entry);

/// Gives tensors their places: one behind another, the widest elements first, so that each is
/// aligned for readers that map the file. The order of the entries stays.
void lay_out(std::vector<TensorEntry>& entries);

/// With its length in front, padded to a multiple of 8.
std::string to_text(const SafetensorsHeader& header);

/// Parses the JSON of a file with `data_size` bytes of data. Throws an Error (Exit::data) that
/// begins with `file`.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::int64_t data_size,
                                           const std::string& file);

/// The same of a file.
SafetensorsHeader read_safetensors_header(const TensorImage& file);

}  // namespace ddptrain
