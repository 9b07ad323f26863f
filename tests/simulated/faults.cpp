#include "simulated/faults.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "simulated/counting.h"
#include "simulated/memory.h"

namespace ddptrain::simulated {
namespace {

struct Fault {
  std::string kind;       // "lost", "memory"; empty: none
  std::string where;      // part of an operator's name
  std::int64_t call = 1;  // of such operators
  int device = -1;        // all
};

std::string environment_text() {
  const char* text = std::getenv("DDPTRAIN_SIMULATED_FAIL");
  return text ? text : "";
}

/// What follows the last `mark`, taken off.
std::string after(std::string& text, char mark) {
  const auto at = text.rfind(mark);
  if (at == std::string::npos) return {};
  auto rest = text.substr(at + 1);
  text.resize(at);
  return rest;
}

Fault parsed(std::string text) {
  Fault fault;
  if (text.find('@') == std::string::npos) return fault;
  if (const auto device = after(text, '/'); !device.empty()) fault.device = std::stoi(device);
  if (const auto call = after(text, ':'); !call.empty()) fault.call = std::stoll(call);
  fault.where = after(text, '@');
  fault.kind = text;
  return fault;
}

[[noreturn]] void throw_lost() {
  TORCH_CHECK(false,
              "CUDA error: unspecified launch failure\nCUDA kernel errors might be asynchronously "
              "reported at some other API call, so the stacktrace below might be incorrect.");
}

[[noreturn]] void throw_memory() {
  TORCH_CHECK_WITH(OutOfMemoryError, false,
                   "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
                   "79.11 GiB of which 1.20 GiB is free.");
}

}  // namespace

void fail_if_asked(std::string_view name) {
  static const Fault fault = parsed(environment_text());
  static std::atomic<std::int64_t> calls{0};
  if (fault.kind.empty() || Inside::operators()) return;
  if (fault.device >= 0 && fault.device != current_device()) return;
  const bool lost = fault.kind == "lost";
  if (lost && calls >= fault.call) throw_lost();
  if (fault.where != "operator" && name.find(fault.where) == std::string_view::npos) return;
  if (++calls != fault.call) return;
  if (lost) throw_lost();
  throw_memory();
}

bool is_another(std::string_view what) { return environment_text() == what; }

}  // namespace ddptrain::simulated
