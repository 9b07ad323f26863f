#include "accelerator/devices.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "base/text.h"
#include "launch/in_child.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

constexpr char kFailed = '!';  // begins the answer of a child that found none

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// CUDA_VISIBLE_DEVICES hides devices by listing the others; an empty list hides all.
int listed_devices(const std::string& list) {
  if (list.empty() || list == "-1") return 0;
  return 1 + static_cast<int>(std::count(list.begin(), list.end(), ','));
}

// NVML counts without creating a context.
int nvml_devices(void* library) {
  const auto start = symbol<int()>(library, "nvmlInit_v2");
  const auto count = symbol<int(unsigned*)>(library, "nvmlDeviceGetCount_v2");
  const auto stop = symbol<int()>(library, "nvmlShutdown");
  unsigned devices = 0;
  if (start && count && stop && start() == 0) {
    if (count(&devices) != 0) devices = 0;
    stop();
  }
  return static_cast<int>(devices);
}

// The driver itself; not in this process, which could not fork any more.
int libcuda_devices(void* library) {
  const auto start = symbol<int(unsigned)>(library, "cuInit");
  const auto count = symbol<int(int*)>(library, "cuDeviceGetCount");
  int devices = 0;
  if (!start || !count || start(0) != 0 || count(&devices) != 0) return 0;
  return devices;
}

/// What `count` says of a library; 0 where it is not there.
template <class Count>
int counted_by(const char* file, const Count& count) {
  void* library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return 0;
  const int devices = count(library);
  dlclose(library);
  return devices;
}

int driver_devices() {
  if (const int devices = counted_by("libnvidia-ml.so.1", nvml_devices)) return devices;
  return counted_by("libcuda.so.1", [](void* library) {
    const auto answer = in_child([&] { return std::to_string(libcuda_devices(library)); });
    return static_cast<int>(parse_integer(answer).value_or(0));
  });
}

std::string names_or_reason(DeviceKind kind) {
  try {
    const auto& devices = accelerator(kind);
    std::vector<std::string> names;
    for (int i = 0; i < devices.count(); ++i) names.push_back(devices.name(i));
    return join(names, "\n");
  } catch (const std::exception& error) {
    return kFailed + split(error.what(), '\n').front();
  }
}

}  // namespace

int visible_gpus() {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list && listed_devices(list) == 0) return 0;
  const int present = driver_devices();
  return list ? std::min(present, listed_devices(list)) : present;
}

FoundDevices find_devices(DeviceKind kind) {
  try {
    const auto answer = in_child([kind] { return names_or_reason(kind); });
    if (answer.empty()) return {{}, "it finds no device"};
    if (answer.front() == kFailed) return {{}, answer.substr(1)};
    return {split(answer, '\n'), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

}  // namespace ddptrain
