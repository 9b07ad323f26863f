// NVRTC, NVIDIA's compiler as a library, which comes with LibTorch's wheels. It needs no GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "accelerator/cuda/kernels/text.h"

namespace ddptrain {

class KernelCompiler {
 public:
  /// Opens one of these libraries, the first that is there; an Error (Exit::device) that says what
  /// would do where none is.
  explicit KernelCompiler(const std::vector<std::string>& libraries);

  /// Code of a device of compute capability `capability` (80: 8.0), to be loaded by the driver:
  /// machine code, or PTX where this NVRTC is older than the device. An Error (Exit::device) holds
  /// the compiler's messages.
  std::string compile(const KernelText& text, int capability) const;

 private:
  struct Functions;
  int newest_known(int capability) const;
  std::string error(int result) const;

  std::shared_ptr<const Functions> functions_;
};

}  // namespace ddptrain
