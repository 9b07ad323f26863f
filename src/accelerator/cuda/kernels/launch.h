// Our kernels on the current device and stream.
#pragma once

#include <cstdint>
#include <string>

#include "accelerator/cuda/kernels/text.h"

namespace ddptrain {

/// Starts the kernel `name` of a text in about `threads` threads: it loops over the rest. The text
/// is compiled when the first device of a compute capability asks for it. `arguments` are the
/// addresses of the kernel's arguments.
void launch_kernel(const KernelText& text, const std::string& name, std::int64_t threads,
                   void** arguments);

}  // namespace ddptrain
