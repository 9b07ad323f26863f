// NVRTC, NVIDIA's compiler as a library, which comes with LibTorch's wheels. It needs no GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "accelerator/cuda/kernels/text.h"

namespace ddptrain {

/// What is compiled: the kernels of a text for one type of numbers (kernel_type()), or for all,
/// and devices of compute capability `capability` (80: 8.0).
struct KernelCode {
  const KernelText& text;
  std::string type = {};  // empty: all
  int capability = 0;
  std::vector<std::string> macros = {};  // "LANES=32": those that the text has, else its own
};

class KernelCompiler {
 public:
  /// Opens one of these libraries, the first that is there; an Error (Exit::device) that says what
  /// would do where none is.
  explicit KernelCompiler(const std::vector<std::string>& libraries);

  /// Code to be loaded by the driver: machine code, or PTX where this NVRTC is older than the
  /// device. An Error (Exit::device) holds the compiler's messages.
  std::string compile(const KernelCode& code) const;

  /// All that code depends on: this NVRTC's version, its options, and the text.
  std::string description(const KernelCode& code) const;

 private:
  struct Functions;
  int newest_known(int capability) const;
  std::vector<std::string> options(const KernelCode& code) const;
  std::string error(int result) const;

  std::shared_ptr<const Functions> functions_;
};

}  // namespace ddptrain
