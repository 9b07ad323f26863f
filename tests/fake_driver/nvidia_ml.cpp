// NVML of a machine with FAKE_GPUS GPUs.
#include <cstdio>
#include <cstdlib>

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  const char* text = std::getenv("FAKE_GPUS");
  *count = static_cast<unsigned>(text ? std::atoi(text) : 1);
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.65.06");
  return 0;
}
}
