#include "accelerator/cuda/kernels/compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <algorithm>

#include "base/error.h"

namespace ddptrain {

using Program = struct _nvrtcProgram*;

// nvrtc.h, which is not on every machine that builds this.
struct KernelCompiler::Functions {
  int (*version)(int*, int*);
  const char* (*error)(int);
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*destroy)(Program*);
  int (*compile)(Program, int, const char* const*);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, std::size_t*);
  int (*cubin)(Program, char*);
  int (*ptx_size)(Program, std::size_t*);
  int (*ptx)(Program, char*);
  int (*count_of_architectures)(int*);
  int (*architectures)(int*);
};

namespace {

void* open_first(const std::vector<std::string>& libraries) {
  for (const auto& library : libraries)
    if (auto* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  throw Error(
      Exit::device,
      "CUDA cannot be used: NVRTC, which compiles the kernels of ddptrain, is not here ({}{}",
      libraries.back(), "); 'make setup-cuda TORCH=" TORCH_VERSION "' installs it");
}

template <class Function>
void find(void* library, const char* name, Function& to) {
  to = reinterpret_cast<Function>(::dlsym(library, name));
  if (to == nullptr) throw Error(Exit::device, "CUDA cannot be used: this NVRTC has no {}", name);
}

/// A program that lives as long as this.
class Compilation {
 public:
  Compilation(int (*destroy)(Program*)) : destroy_(destroy) {}
  ~Compilation() {
    if (program != nullptr) destroy_(&program);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  Program program = nullptr;

 private:
  int (*destroy_)(Program*);
};

std::string output_of(Program program, int (*size_of)(Program, std::size_t*),
                      int (*get)(Program, char*)) {
  std::size_t size = 0;
  size_of(program, &size);
  std::string output(size, '\0');
  get(program, output.data());
  return output;
}

}  // namespace

KernelCompiler::KernelCompiler(const std::vector<std::string>& libraries) {
  void* library = open_first(libraries);
  Functions f{};
  find(library, "nvrtcVersion", f.version);
  find(library, "nvrtcGetErrorString", f.error);
  find(library, "nvrtcCreateProgram", f.create);
  find(library, "nvrtcDestroyProgram", f.destroy);
  find(library, "nvrtcCompileProgram", f.compile);
  find(library, "nvrtcGetProgramLogSize", f.log_size);
  find(library, "nvrtcGetProgramLog", f.log);
  find(library, "nvrtcGetCUBINSize", f.cubin_size);
  find(library, "nvrtcGetCUBIN", f.cubin);
  find(library, "nvrtcGetPTXSize", f.ptx_size);
  find(library, "nvrtcGetPTX", f.ptx);
  find(library, "nvrtcGetNumSupportedArchs", f.count_of_architectures);
  find(library, "nvrtcGetSupportedArchs", f.architectures);
  functions_ = std::make_shared<const Functions>(f);
}

// The newest that is not newer than a device.
int KernelCompiler::newest_known(int capability) const {
  int count = 0;
  functions_->count_of_architectures(&count);
  std::vector<int> known(static_cast<std::size_t>(count));
  functions_->architectures(known.data());
  int best = 0;
  for (const auto architecture : known)
    if (architecture <= capability) best = std::max(best, architecture);
  if (best == 0)
    throw Error(Exit::device,
                "CUDA cannot be used: NVRTC has no code for devices of capability {}.{}",
                capability / 10, capability % 10);
  return best;
}

std::string KernelCompiler::error(int result) const { return functions_->error(result); }

// No fused multiply-add: results are those of the CPU to the last bit.
std::vector<std::string> KernelCompiler::options(const KernelCode& code) const {
  const int known = newest_known(code.capability);
  std::vector<std::string> all{
      fmt::format("--gpu-architecture={}{}", known == code.capability ? "sm_" : "compute_", known),
      "--std=c++17", "--fmad=false"};
  if (!code.type.empty())
    all.insert(all.end(), {"--define-macro=ONLY_ONE", "--define-macro=ONLY_" + code.type});
  for (const auto& macro : code.macros) all.push_back("--define-macro=" + macro);
  return all;
}

std::string KernelCompiler::description(const KernelCode& code) const {
  int major = 0, minor = 0;
  functions_->version(&major, &minor);
  std::string text = fmt::format("NVRTC {}.{} {}\n{}\n", major, minor, code.text.name,
                                 fmt::join(options(code), " "));
  for (const auto& [name, header] : code.text.headers) text += fmt::format("{}\n{}", name, header);
  return text + code.text.text;
}

std::string KernelCompiler::compile(const KernelCode& code) const {
  const auto& f = *functions_;
  std::vector<const char*> names, texts, words;
  for (const auto& [name, header] : code.text.headers) {
    names.push_back(name);
    texts.push_back(header);
  }
  Compilation compilation(f.destroy);
  auto& program = compilation.program;
  int result = f.create(&program, code.text.text, code.text.name, static_cast<int>(names.size()),
                        texts.data(), names.data());
  if (result != 0) throw Error(Exit::device, "NVRTC: {}", error(result));
  const auto all = options(code);
  for (const auto& option : all) words.push_back(option.c_str());
  result = f.compile(program, static_cast<int>(words.size()), words.data());
  if (result != 0)
    throw Error(Exit::device, "NVRTC refuses {}: {}\n{}", code.text.name, error(result),
                output_of(program, f.log_size, f.log));
  return newest_known(code.capability) == code.capability
             ? output_of(program, f.cubin_size, f.cubin)
             : output_of(program, f.ptx_size, f.ptx);
}

}  // namespace ddptrain
