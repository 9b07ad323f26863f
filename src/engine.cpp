// Where libddptrain_engine.so is entered.
#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/headeronly/version.h>

#include "base/version.h"
#include "cli/engine_table.h"
#include "jobs/engine.h"

namespace ddptrain {
namespace {

const char* unfit_torch() {
  static std::string why;
  const auto found = aoti_torch_abi_version();
  if (found == TORCH_ABI_VERSION) return nullptr;
  why = fmt::format("which was built with LibTorch {}, and finds {}.{}.{}", torch_version(),
                    found >> 56, found >> 48 & 255, found >> 40 & 255);
  return why.c_str();
}

int run_words(int count, const char* const* words) {
  return run_command_line(engine_program(), {words, words + count});
}

}  // namespace
}  // namespace ddptrain

extern "C" const void* ddptrain_engine() {
  static const auto release = ddptrain::version();
  static const ddptrain::EngineTable table{ddptrain::EngineTable::current, release.c_str(),
                                           ddptrain::unfit_torch, ddptrain::run_words};
  return &table;
}
