// Our kernels on the current device and stream.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "accelerator/cuda/kernels/text.h"

namespace ddptrain {

/// A kernel of what a text has for one type of numbers.
struct KernelName {
  const KernelText& text;
  std::string type;  // "float": kernel_type()
  std::string name;
  std::vector<std::string> macros = {};  // KernelCode's
};

constexpr int kBlockThreads = 256;

struct BlockCounts {
  std::int64_t x = 1, y = 1;
};

/// Starts a kernel in blocks of kBlockThreads. What its text has for its type is compiled when the
/// first device of a compute capability asks for it, once on a machine (accelerator/code_cache.h).
/// `arguments` are the addresses of the kernel's arguments.
void launch_kernel(const KernelName& kernel, const BlockCounts& blocks, void** arguments);

/// In about `threads` threads: the kernel loops over the rest.
void launch_kernel(const KernelName& kernel, std::int64_t threads, void** arguments);

/// Where compiled code is kept, before the first kernel is launched; null: nowhere.
using CodeCache = std::string (*)(const std::string& description,
                                  const std::function<std::string()>& compile);
void keep_code_by(CodeCache cache);

/// Multiprocessors of the current device.
int processors();

}  // namespace ddptrain
