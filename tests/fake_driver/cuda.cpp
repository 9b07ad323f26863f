// The driver of a machine with FAKE_GPUS GPUs, of which nothing can be asked but their number. It
// may be started once: a process that forks afterwards would have a broken one.
#include <cstdlib>

namespace {
bool started = false;
}

extern "C" {

int cuInit(unsigned) {
  started = true;
  return 0;
}
int cuDeviceGetCount(int* count) {
  if (!started) return 3;  // CUDA_ERROR_NOT_INITIALIZED
  const char* text = std::getenv("FAKE_GPUS");
  *count = text ? std::atoi(text) : 1;
  return 0;
}
/// For tests: whether this process started the driver.
int fake_driver_started() { return started ? 1 : 0; }
}
