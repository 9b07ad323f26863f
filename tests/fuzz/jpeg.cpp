// JPEG of any size: what a few bytes may cost (scripts/fuzz gives a bound of memory and of time).
#include "whole_image.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 3 || data[0] != 0xFF || data[1] != 0xD8) return 0;
  ddptrain::fuzz::read_image({data, size});
  return 0;
}
