#include "distributed/cuda.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/files/plugin.h"
#include "distributed/torch_compat.h"

namespace ddptrain {
namespace {

constexpr const char* file_name = "libddptrain_cuda.so";

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Exit::device,
              "CUDA cannot be used: " + why + "; 'parallel.device: cpu' runs without it");
}

void* open_cuda() {
  const auto plugin = open_plugin(file_name, RTLD_NOW | RTLD_GLOBAL);
  if (plugin.handle != nullptr) return plugin.handle;
  if (plugin.found)
    refuse(plugin.why_not + " (the nvidia packages that torch names belong beside it)");
  refuse("this ddptrain was built without it: '" + std::string(file_name) +
         "' is not beside the program; build on a machine with the CUDA toolkit and nccl.h");
}

const CudaPlugin& load_plugin() {
  void* library = open_cuda();
  const auto entry = reinterpret_cast<CudaPluginEntry*>(dlsym(library, CudaPlugin::symbol));
  if (entry == nullptr) refuse("'" + std::string(file_name) + "' is not ddptrain's");
  const auto* plugin = entry();
  if (plugin->version != CudaPlugin::current)
    refuse("'" + std::string(file_name) + "' belongs to another version of ddptrain");
  return *plugin;
}

}  // namespace

const CudaPlugin& cuda_plugin() {
  static const CudaPlugin& plugin = load_plugin();
  return plugin;
}

Backend make_nccl(const Store& store, const BackendOptions& options, int device) {
  // Like Gloo's device: between processes of one node nothing leaves it.
  if (options.loopback) setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  std::array<char, 1024> error{};
  void* made = cuda_plugin().nccl(store.get(), options.name.c_str(), options.rank, options.size,
                                  device, options.timeout.count(), error.data(), error.size());
  if (made == nullptr)
    throw Error(Exit::device, "rank " + std::to_string(options.rank) + ", NCCL of the " +
                                  options.name + " group: " + error.data());
  return Backend::reclaim(static_cast<c10d::Backend*>(made));
}

}  // namespace ddptrain
