#include <fmt/format.h>

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files/plugin.h"
#include "base/version.h"
#include "cli/engine_table.h"
#include "program/program.h"

namespace ddptrain {
namespace {

/// Threads of OpenMP that wait shall sleep (docs/decisions/waiting-threads.md). LibTorch's runtime
/// (libgomp) reads this while it is loaded; settings of the user stay.
class SleepingThreads {
 public:
  SleepingThreads()
      : is_set_(std::getenv("OMP_WAIT_POLICY") == nullptr &&
                std::getenv("GOMP_SPINCOUNT") == nullptr) {
    if (is_set_) ::setenv("OMP_WAIT_POLICY", "passive", 0);
  }
  ~SleepingThreads() {
    if (is_set_) ::unsetenv("OMP_WAIT_POLICY");
  }
  SleepingThreads(const SleepingThreads&) = delete;
  SleepingThreads& operator=(const SleepingThreads&) = delete;

 private:
  bool is_set_;
};

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw Error(Exit::device, "{} needs {}, {}", what, EngineTable::file, why);
}

/// What the script of the wheel (python/ddptrain/_program.py) found wrong with an environment's
/// torch; it also names the command that helps.
constexpr const char* kTorchProblem = "DDPTRAIN_TORCH_PROBLEM";

/// The symbol version that a library lacks by the loader's message, as GLIBC_2.36; empty where the
/// message is about something else.
std::string missing_version(const std::string& loader) {
  constexpr std::string_view before = "version `";
  const auto start = loader.find(before);
  const auto end = loader.find("' not found", start);
  if (start == std::string::npos || end == std::string::npos) return {};
  return loader.substr(start + before.size(), end - start - before.size());
}

/// What a system too old for the engine lacks, and what to do; empty where it is not that.
std::string why_too_old(const std::string& loader) {
  const auto version = missing_version(loader);
  if (version.starts_with("GLIBC_"))
    return "which needs glibc " + version.substr(6) + " or newer, and this system has " +
           gnu_get_libc_version() +
           "; try the wheel ('pip install ddptrain'), or a container (docs/installing.md)";
  if (version.starts_with("GLIBCXX_") || version.starts_with("CXXABI_"))
    return "which needs " + version + ", and " + loader.substr(0, loader.find(": ")) +
           " is older; unset LD_LIBRARY_PATH if that names it, or install the libstdc++ of GCC 12 "
           "or newer";
  return {};
}

std::string why_not_loaded(const std::string& loader) {
  if (const auto old = why_too_old(loader); !old.empty()) return old;
  const bool lacks_torch =
      loader.find("libtorch") != std::string::npos || loader.find("libc10") != std::string::npos;
  const bool finds_another = loader.find("undefined symbol") != std::string::npos;
  const char* problem = std::getenv(kTorchProblem);
  if (problem && (lacks_torch || finds_another)) return "and " + std::string(problem);
  if (lacks_torch)
    return fmt::format(
        "which finds no LibTorch {} ({}); 'pip install torch=={}' or 'make setup TORCH={}' brings "
        "it",
        torch_version(), loader, torch_version(), torch_version());
  if (finds_another)
    return "which was built with LibTorch " + torch_version() + ", and finds another (" + loader +
           "); 'pip install torch==" + torch_version() + "' brings the right one";
  return "which cannot be loaded: " + loader;
}

const EngineTable& opened_engine(const std::string& what) {
  const SleepingThreads sleeping;
  auto plugin = open_plugin(EngineTable::file, RTLD_LAZY | RTLD_GLOBAL);
  if (!plugin.found)
    refuse(what,
           "which is not installed next to this program; without it ddptrain only reads recipes "
           "and run folders ('pip install ddptrain', or 'make' in its source)");
  if (!plugin.handle) refuse(what, why_not_loaded(plugin.why_not));
  const auto* table = table_of<EngineTable>(plugin, EngineTable::file);
  if (!table || table->release != version())
    refuse(what, fmt::format("and the one next to this program is of version {}, not {}; install "
                             "both from one package",
                             table ? table->release : "unknown", version()));
  if (const auto* unfit = table->unfit()) refuse(what, unfit);
  return *table;
}

}  // namespace

bool has_engine() { return !find_plugin(EngineTable::file).empty(); }

int run_in_engine(const Arguments& arguments, const std::string& what) {
  std::vector<const char*> words;
  for (const auto& word : arguments.command_line) words.push_back(word.c_str());
  return opened_engine(what).run(static_cast<int>(words.size()), words.data());
}

int run_verb_in_engine(const Arguments& arguments) {
  return run_in_engine(arguments, fmt::format("'{}'", arguments.command_line[1]));
}

}  // namespace ddptrain
