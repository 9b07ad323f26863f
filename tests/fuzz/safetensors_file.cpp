// A .safetensors file as `model.weights` and `eval --weights` read it: header, tensors, classes.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "checkpoint/weights.h"
#include "input_file.h"

using namespace ddptrain;

namespace {

/// The reader goes by the name, and a file in memory has none of its choice.
std::string scratch_file() {
  std::string folder =
      std::filesystem::is_directory("/dev/shm") ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX";
  fuzz::claim(::mkdtemp(folder.data()) != nullptr, "a folder can be made");
  return folder + "/model.safetensors";
}

void check(const SavedWeights& weights, std::string_view file) {
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : weights.tensors) {
    fuzz::claim(tensor.is_contiguous(), "tensors are laid out as the file has them");
    bytes += tensor.nbytes();
  }
  fuzz::claim(8 + header + bytes == file.size(), "every byte belongs to one tensor");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const std::string path = scratch_file();
  const auto content = fuzz::text_of(data, size);
  std::ofstream(path, std::ios::binary) << content;
  try {
    check(read_saved_weights(path), content);
  } catch (const Error& error) {
    fuzz::claim(error.code() == Exit::data, "it is the file that is wrong");
  }
  return 0;
}
