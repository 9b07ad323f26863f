// JPEGs decoded on a GPU, by nvJPEG.
#pragma once

#include "accelerator/accelerator.h"

namespace ddptrain {

/// Accelerator::jpeg_decoder. Each thread that decodes has memory and a stream of its own; what is
/// decoded comes back to the host, where its transforms are. Errors (Exit::device): nvJPEG is not
/// there, or fails; a device without memory for an image.
DeviceJpegDecoder make_nvjpeg(int device);

}  // namespace ddptrain
