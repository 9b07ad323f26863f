#include "accelerator/devices.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>

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

// CUDA_VISIBLE_DEVICES hides devices by listing the others; an empty list hides all, and a number
// of no device hides what follows it (CUDA C++ Programming Guide, "CUDA Environment Variables").
int listed_devices(const std::string& list, int present) {
  int count = 0;
  if (list.empty()) return count;
  for (const auto& name : split(list, ',')) {
    const auto number = parse_integer(trim(name));
    if (number && (*number < 0 || *number >= present)) break;
    ++count;
  }
  return std::min(present, count);
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

/// What `ask` learns of a library; 0 or no text if it is missing.
template <class Ask>
auto answer_of(const char* file, const Ask& ask) {
  void* library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return decltype(ask(library)){};
  auto answer = ask(library);
  dlclose(library);
  return answer;
}

int driver_devices() {
  if (const int devices = answer_of("libnvidia-ml.so.1", nvml_devices)) return devices;
  return answer_of("libcuda.so.1", [](void* library) {
    const auto answer = in_child([&] { return std::to_string(libcuda_devices(library)); });
    return static_cast<int>(parse_integer(answer).value_or(0));
  });
}

/// The child's answer: a line of traits, then the devices' names.
std::string names_or_reason(DeviceKind kind) {
  try {
    const auto& devices = accelerator(kind);
    std::vector<std::string> lines{""};
    DeviceTraits common{true, true};
    for (int i = 0; i < devices.count(); ++i) {
      const auto facts = devices.facts(i);
      common.has_bf16 &= facts.traits.has_bf16;
      common.gains_by_channels_last &= facts.traits.gains_by_channels_last;
      lines.push_back(facts.name);
    }
    lines.front() += common.has_bf16 ? '1' : '0';
    lines.front() += common.gains_by_channels_last ? '1' : '0';
    return join(lines, "\n");
  } catch (const std::exception& error) {
    return kFailed + split(error.what(), '\n').front();
  }
}

std::string nvml_driver(void* library) {
  const auto start = symbol<int()>(library, "nvmlInit_v2");
  const auto version = symbol<int(char*, unsigned)>(library, "nvmlSystemGetDriverVersion");
  const auto stop = symbol<int()>(library, "nvmlShutdown");
  std::array<char, 80> text{};
  if (!start || !version || !stop || start() != 0) return {};
  if (version(text.data(), text.size() - 1) != 0) text[0] = 0;
  stop();
  return text.data();
}

/// nvmlPciInfo_t.
struct PciInfo {
  char old_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

/// The device's number or UUID as the driver has it.
std::string named_device(std::int64_t id) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return std::to_string(id);
  const auto listed = split(visible, ',');
  return id < std::ssize(listed) ? std::string(trim(listed[static_cast<std::size_t>(id)])) : "";
}

void* nvml_device(void* library, const std::string& name) {
  void* device = nullptr;
  const auto number = parse_integer(name);
  const auto by_number = symbol<int(unsigned, void**)>(library, "nvmlDeviceGetHandleByIndex_v2");
  const auto by_uuid = symbol<int(const char*, void**)>(library, "nvmlDeviceGetHandleByUUID");
  const bool found = number ? by_number && by_number(static_cast<unsigned>(*number), &device) == 0
                            : by_uuid && by_uuid(name.c_str(), &device) == 0;
  return found ? device : nullptr;
}

std::string nvml_address(void* library, const std::string& name) {
  const auto start = symbol<int()>(library, "nvmlInit_v2");
  const auto look = symbol<int(void*, PciInfo*)>(library, "nvmlDeviceGetPciInfo_v3");
  const auto stop = symbol<int()>(library, "nvmlShutdown");
  if (!start || !look || !stop || start() != 0) return {};
  PciInfo info{};
  std::array<char, 32> text{};
  void* device = nvml_device(library, name);
  if (device && look(device, &info) == 0)
    std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.0", info.domain, info.bus, info.device);
  stop();
  return text.data();
}

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

/// "CUDA_VISIBLE_DEVICES='0,1'"; empty where it is unset.
std::string visible_list() {
  const char* list = std::getenv(kVisible);
  return list ? fmt::format("{}='{}'", kVisible, list) : std::string();
}

/// Why no GPU is shown, as far as the environment says.
std::string hidden_by() {
  const auto list = visible_list();
  return list.empty() ? list : list + " hides every GPU";
}

/// Never throws.
FoundDevices counted_by_accelerator(DeviceKind kind) {
  try {
    const auto answer = in_child([kind] { return names_or_reason(kind); });
    if (answer.front() == kFailed) return {{}, {}, answer.substr(1)};
    auto lines = split(answer, '\n');
    const DeviceTraits traits{lines[0][0] == '1', lines[0][1] == '1'};
    lines.erase(lines.begin());
    if (lines.empty()) return {{}, {}, "it finds no device"};
    return {std::move(lines), traits, {}};
  } catch (const Error& error) {
    return {{}, {}, error.what()};
  }
}

}  // namespace

std::string bus_address(DeviceKind kind, std::int64_t id) {
  const auto name = named_device(id);
  if (kind != DeviceKind::cuda || name.empty()) return {};
  return answer_of("libnvidia-ml.so.1", [&](void* library) { return nvml_address(library, name); });
}

std::string driver_version() { return answer_of("libnvidia-ml.so.1", nvml_driver); }

int visible_gpus() {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list && listed_devices(list, std::numeric_limits<int>::max()) == 0) return 0;
  const int present = driver_devices();
  return list ? listed_devices(list, present) : present;
}

DeviceKind automatic_kind() { return DeviceKind::cuda; }

DeviceKind examined_kind() {
  return std::getenv(kSimulatedDevice) ? DeviceKind::simulated : automatic_kind();
}

FoundDevices find_devices(DeviceKind kind) {
  const bool automatic = kind == DeviceKind::automatic;
  if (automatic) kind = automatic_kind();
  if (kind == DeviceKind::cpu) return {};
  const bool by_driver = kind == DeviceKind::cuda;
  if (by_driver && visible_gpus() == 0) return {{}, {}, automatic ? "" : hidden_by()};
  auto found = counted_by_accelerator(kind);
  if (const auto list = visible_list(); !list.empty() && !found.why_none.empty())
    found.why_none += " (" + list + ")";
  return found;
}

}  // namespace ddptrain
