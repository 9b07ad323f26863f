// Ends a program with 99 where LibTorch asks for CUDA's hooks before the accelerator is open: it
// asks once, and what it finds then holds for the process. For LD_PRELOAD.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace at {

struct CUDAHooksInterface;

namespace detail {

__attribute__((visibility("default"))) const CUDAHooksInterface& getCUDAHooks() {
  const char* library = std::getenv("DDPTRAIN_SIMULATED_DEVICE");
  if (library && ::dlopen(library, RTLD_NOW | RTLD_NOLOAD) == nullptr) {
    std::fputs("LibTorch asked for CUDA's hooks before the accelerator was open\n", stderr);
    ::_exit(99);
  }
  using Hooks = const CUDAHooksInterface&();
  static auto* const next =
      reinterpret_cast<Hooks*>(::dlsym(RTLD_NEXT, "_ZN2at6detail12getCUDAHooksEv"));
  return next();
}

}  // namespace detail
}  // namespace at
