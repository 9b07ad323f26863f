// What is used of nvJPEG: the library is opened where a recipe asks for it, and its header need not
// be there. Names, numbers and types are those of nvjpeg.h, which tests/cuda_stand_in compares.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ddptrain::nvjpeg {

using Handle = void*;
using State = void*;
using Status = int;

constexpr Status success = 0;
/// Of a file that is damaged, cut off or of a kind that is not decoded.
constexpr Status bad_jpeg = 3, jpeg_not_supported = 4, incomplete_bitstream = 10;

enum Output { gray = 2, interleaved_rgb = 5 };
constexpr int default_backend = 0;
/// Refuses what is damaged; brings colors to full size as libjpeg does, by interpolation.
constexpr unsigned strict = 1U << 2, interpolate = 1U << 5;

/// nvjpegImage_t: planes on the device, and bytes from one row to the next.
struct Planes {
  unsigned char* channel[4];
  std::size_t pitch[4];
};

struct Library {
  Status (*create)(int backend, void* device_allocator, void* pinned_allocator, unsigned flags,
                   Handle*);
  Status (*destroy)(Handle);
  Status (*create_state)(Handle, State*);
  Status (*destroy_state)(State);
  Status (*decode)(Handle, State, const unsigned char* file, std::size_t bytes, Output, Planes*,
                   cudaStream_t);
};

/// Opened at the first call, next to the CUDA runtime or where the loader looks. An Error
/// (Exit::device) says what brings it.
const Library& library();

}  // namespace ddptrain::nvjpeg
