#include "accelerator/accelerator.h"

#include <c10/core/CPUAllocator.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <cstdlib>
#include <filesystem>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerator/code_cache.h"
#include "accelerator/plugin.h"
#include "base/error.h"
#include "base/files/plugin.h"
#include "base/version.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

class Cpu final : public Accelerator {
 public:
  c10::DeviceType type() const override { return c10::kCPU; }
  int count() const override { return 1; }
  DeviceFacts facts(int) const override { return {"CPU", {}, 0, {}}; }
  bool peer_access(int, int) const override { return true; }
  std::vector<std::pair<std::string, std::string>> versions() const override { return {}; }
  void select(int) const override {}
  void be_deterministic() const override {}
  DeviceMemory memory(int) const override { return {}; }
  void reset_peak_memory(int) const override {}
  void empty_cache() const override {}
  c10::DataPtr host_memory(std::int64_t bytes) const override {
    return c10::GetCPUAllocator()->allocate(static_cast<std::size_t>(bytes));
  }
  DeviceJpegDecoder jpeg_decoder(int) const override {
    throw Error(Exit::device, "the run has no GPU; write 'cpu', or 'auto' for runs on both");
  }
  std::unique_ptr<DeviceGraph> capture(int, const DeviceWork&) const override {
    throw Error(Exit::device, "the CPU has no graphs");
  }
  Backend process_group(const Store& store, const BackendOptions& options, int) const override {
    return make_gloo(store, options);
  }
};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Exit::device, "CUDA cannot be used: {}", why);
}

/// As in the tarball.
bool has_libtorch_next_to(const std::string& plugin) {
  namespace fs = std::filesystem;
  return fs::exists(fs::path(find_plugin(plugin)).parent_path() / "libtorch_cpu.so");
}

const Accelerator& open_accelerator(const std::string& file) {
  auto opened = open_plugin(file, RTLD_NOW | RTLD_GLOBAL);
  const auto* plugin = table_of<AcceleratorPlugin>(opened, file);
  if (plugin != nullptr) {
    if (std::string(plugin->torch) == TORCH_VERSION) return plugin->open({cached_code});
    refuse("'" + file + "' belongs to another version of ddptrain");
  }
  if (opened.handle != nullptr) refuse(opened.why_not);
  if (opened.found)
    refuse(missing_library(opened.why_not, torch_version(), has_libtorch_next_to(file)));
  refuse("this ddptrain was built without it: '" + file +
         "' is not next to the program; build on a machine with the CUDA toolkit and nccl.h");
}

/// LibTorch's allocator reads it once, as it is opened: segments that grow leave fewer gaps where
/// sizes change. What the user wrote stays.
void set_unless_the_user_did(const char* settings) {
  if (std::getenv("PYTORCH_CUDA_ALLOC_CONF") == nullptr)
    ::setenv("PYTORCH_ALLOC_CONF", settings, 0);
}

const Accelerator& open_cuda() {
  set_unless_the_user_did("expandable_segments:True");
  return open_accelerator(cuda_plugin);
}

}  // namespace

void keep_segment_sizes() { set_unless_the_user_did("expandable_segments:False"); }

const Accelerator& accelerator(DeviceKind kind) {
  if (kind == DeviceKind::cuda) {
    static const Accelerator& cuda = open_cuda();
    return cuda;
  }
  if (kind == DeviceKind::simulated) {
    const char* file = std::getenv(kSimulatedDevice);
    DDP_CHECK(file != nullptr, "a recipe cannot name it otherwise");
    static const Accelerator& simulated = open_accelerator(file);
    return simulated;
  }
  static const Cpu cpu;
  return cpu;
}

}  // namespace ddptrain
