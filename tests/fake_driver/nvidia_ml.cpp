// NVML of a machine with FAKE_GPUS GPUs.
#include <cstdint>
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
// GPU i is on bus 0x1b + i; its handle is that number, its UUID "GPU-i".
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  unsigned count = 0;
  nvmlDeviceGetCount_v2(&count);
  if (index >= count) return 2;
  *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(0x1b + index));
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  unsigned index = 0;
  if (std::sscanf(uuid, "GPU-%u", &index) != 1) return 2;
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}
struct FakePciInfo {
  char old_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};
int nvmlDeviceGetPciInfo_v3(void* device, FakePciInfo* info) {
  info->domain = 0;
  info->bus = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device));
  info->device = 0;
  return 0;
}
// "0000:1b:00.0"
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  unsigned bus = 0;
  if (std::sscanf(address, "%*x:%x", &bus) != 1 || bus < 0x1b) return 2;
  return nvmlDeviceGetHandleByIndex_v2(bus - 0x1b, device);
}
// LibTorch's growing segments want these to be there; 3: not supported.
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return 3; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, FakePciInfo*) { return 3; }
int nvmlDeviceGetComputeRunningProcesses(void*, unsigned* count, void*) {
  *count = 0;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  *count = 0;
  return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.65.06");
  return 0;
}
}
