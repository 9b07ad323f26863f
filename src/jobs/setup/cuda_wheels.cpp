#include "jobs/setup/cuda_wheels.h"

// NOLINTNEXTLINE: C++20 has no other way to take files in
asm(".section .rodata\n"
    "ddptrain_cuda_wheels: .incbin \"" DDPTRAIN_WHEELS
    ".txt\"\n"
    ".incbin \"" DDPTRAIN_WHEELS
    "-cuda.txt\"\n"
    ".byte 0\n"
    ".section .text\n");

extern "C" [[gnu::visibility("hidden")]] const char ddptrain_cuda_wheels[];

namespace ddptrain {

std::string_view cuda_wheels() { return ddptrain_cuda_wheels; }

}  // namespace ddptrain
