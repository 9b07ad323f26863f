// The JSON header of a safetensors file; the first two bytes are the length of the data.
#include "checkpoint/safetensors_header.h"

#include "base/error.h"
#include "input_file.h"

using namespace ddptrain;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 2) return 0;
  const std::int64_t data_size = data[0] | data[1] << 8;
  try {
    const auto header =
        parse_safetensors_header(fuzz::text_of(data + 2, size - 2), data_size, "input");
    std::int64_t covered = 0;
    for (const auto& entry : header.entries) {
      fuzz::claim(0 <= entry.begin && entry.begin <= entry.end && entry.end <= data_size,
                  "tensors lie in the file");
      covered += entry.end - entry.begin;
    }
    fuzz::claim(covered == data_size, "every byte belongs to one tensor");
    const auto text = to_text(header).substr(8);
    fuzz::claim(
        parse_safetensors_header(text, data_size, "again").entries.size() == header.entries.size(),
        "what was written can be read");
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the data that is wrong");
  }
  return 0;
}
