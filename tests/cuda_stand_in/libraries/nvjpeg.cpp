// libnvjpeg: single images, decoded by libjpeg. The picture is there when the stream has come to
// it.
#pragma GCC visibility push(default)
#include <nvjpeg.h>
#pragma GCC visibility pop

#include <cstring>
#include <memory>
#include <vector>

#include "accelerator/cuda/nvjpeg_library.h"
#include "cuda_stand_in/core/gpus.h"
#include "cuda_stand_in/core/report.h"
#include "support/whole_jpeg.h"

namespace {

namespace ours = ddptrain::nvjpeg;
namespace stand_in = ddptrain::stand_in;

// The plug-in is built without nvjpeg.h.
static_assert(ours::success == NVJPEG_STATUS_SUCCESS);
static_assert(ours::bad_jpeg == NVJPEG_STATUS_BAD_JPEG);
static_assert(ours::jpeg_not_supported == NVJPEG_STATUS_JPEG_NOT_SUPPORTED);
static_assert(ours::incomplete_bitstream == NVJPEG_STATUS_INCOMPLETE_BITSTREAM);
static_assert(int{ours::gray} == int{NVJPEG_OUTPUT_Y});
static_assert(int{ours::interleaved_rgb} == int{NVJPEG_OUTPUT_RGBI});
static_assert(ours::default_backend == NVJPEG_BACKEND_DEFAULT);
static_assert(ours::strict == (NVJPEG_FLAGS_BITSTREAM_STRICT));
static_assert(ours::interpolate == (NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION));
static_assert(sizeof(ours::Planes) == sizeof(nvjpegImage_t));
static_assert(offsetof(ours::Planes, pitch) == offsetof(nvjpegImage_t, pitch));

using Pixels = std::vector<unsigned char>;

}  // namespace

extern "C" {

nvjpegStatus_t nvjpegCreateEx(nvjpegBackend_t, nvjpegDevAllocator_t*, nvjpegPinnedAllocator_t*,
                              unsigned int, nvjpegHandle_t* to) {
  *to = reinterpret_cast<nvjpegHandle_t>(new char);
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegDestroy(nvjpegHandle_t handle) {
  delete reinterpret_cast<char*>(handle);
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegJpegStateCreate(nvjpegHandle_t, nvjpegJpegState_t* to) {
  *to = reinterpret_cast<nvjpegJpegState_t>(new char);
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegJpegStateDestroy(nvjpegJpegState_t state) {
  delete reinterpret_cast<char*>(state);
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegDecode(nvjpegHandle_t, nvjpegJpegState_t, const unsigned char* file,
                            size_t bytes, nvjpegOutputFormat_t format, nvjpegImage_t* to,
                            cudaStream_t handle) {
  const int channels = format == NVJPEG_OUTPUT_Y ? 1 : 3;
  auto pixels = std::make_shared<Pixels>();
  if (!ddptrain::test::decode_whole_jpeg(file, bytes, channels, [&](std::size_t values) {
        pixels->resize(values);
        return pixels->data();
      }))
    return NVJPEG_STATUS_BAD_JPEG;
  const stand_in::LockedGpus gpus;
  stand_in::count(stand_in::Count::launches);
  unsigned char* const plane = to->channel[0];
  const auto copy = [plane, pixels] { std::memcpy(plane, pixels->data(), pixels->size()); };
  gpus->enqueue(gpus->stream(handle),
                {"nvjpegDecode", {stand_in::writes(plane, pixels->size())}, copy, {}, true, 0});
  return NVJPEG_STATUS_SUCCESS;
}
}
