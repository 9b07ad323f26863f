#include "accelerator/cuda/nvjpeg_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace ddptrain::nvjpeg {
namespace {

/// The folder that the CUDA runtime came from: nvidia/cu13/lib of its wheels, where that of nvJPEG
/// belongs too.
std::string runtime_folder() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(&cudaRuntimeGetVersion), &found) == 0) return {};
  const std::string path = found.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

void* open() {
  const auto name = fmt::format("libnvjpeg.so.{}", CUDART_VERSION / 1000);
  if (void* handle = dlopen((runtime_folder() + name).c_str(), RTLD_NOW)) return handle;
  if (void* handle = dlopen(name.c_str(), RTLD_NOW)) return handle;
  throw Error(Exit::device,
              "nvJPEG cannot be used: {} ('pip install nvidia-nvjpeg=={}.*', or 'make setup-cuda')",
              dlerror(), CUDART_VERSION / 1000);
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr)
    throw Error(Exit::device, "nvJPEG cannot be used: it has no function '{}'", name);
}

Library opened() {
  void* const handle = open();
  Library library{};
  find(handle, "nvjpegCreateEx", library.create);
  find(handle, "nvjpegDestroy", library.destroy);
  find(handle, "nvjpegJpegStateCreate", library.create_state);
  find(handle, "nvjpegJpegStateDestroy", library.destroy_state);
  find(handle, "nvjpegDecode", library.decode);
  return library;
}

}  // namespace

const Library& library() {
  static const Library library = opened();
  return library;
}

}  // namespace ddptrain::nvjpeg
