#include "simulated/counting.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "simulated/graphs.h"

namespace ddptrain::simulated {
namespace {

std::mutex mutex;
Counts sums;

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : symbol;
}

/// The function in which the address lies; empty where its name is not exported. They are kept:
/// dladdr looks through all symbols of LibTorch.
const std::string& function_at(void* address) {
  static std::mutex own;
  static std::unordered_map<void*, std::string> names;
  const std::lock_guard lock(own);
  const auto [found, is_new] = names.try_emplace(address);
  Dl_info info{};
  if (is_new && ::dladdr(address, &info) != 0 && info.dli_sname)
    found->second = demangled(info.dli_sname);
  return found->second;
}

/// The innermost function of the program whose name it exports.
std::string place() {
  std::array<void*, 64> frames{};
  const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < depth; ++i) {
    const auto& name = function_at(frames[static_cast<std::size_t>(i)]);
    if (!name.starts_with("ddptrain::") || name.starts_with("ddptrain::simulated::")) continue;
    return name.substr(0, name.find('('));
  }
  return "a function without a name";
}

/// A line for DDPTRAIN_SIMULATED_LOG, a file that tests read: process, and what it did.
void note(const std::string& what) {
  static const char* path = std::getenv("DDPTRAIN_SIMULATED_LOG");
  if (path == nullptr) return;
  const auto line = std::to_string(::getpid()) + " " + what + "\n";
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const auto written = ::write(file, line.data(), line.size());
  ::close(file);
  if (written != static_cast<ssize_t>(line.size())) std::abort();
}

}  // namespace

int& Inside::depth() {
  thread_local int depth = 0;
  return depth;
}

std::int64_t Counts::waited() const {
  std::int64_t sum = 0;
  for (const auto& [place, times] : waits) sum += times;
  return sum;
}

Counts counts() {
  const std::lock_guard lock(mutex);
  return sums;
}

void reset() {
  const std::lock_guard lock(mutex);
  sums = {};
}

void count(std::int64_t Counts::*what) {
  if (Inside::operators()) return;
  const std::lock_guard lock(mutex);
  ++(sums.*what);
  if (what == &Counts::replays) note("replays of a graph");
  if (what == &Counts::from_pinned) note("copies from pinned memory");
  if (what == &Counts::from_pageable) note("copies from pageable memory in " + place());
}

void count_misuse() {
  const std::lock_guard lock(mutex);
  ++sums.freed_in_use;
}

void count_wait(const std::string& why) {
  if (Inside::operators()) return;
  forbid_in_a_capture(why);
  const auto where = why + " in " + place();
  const std::lock_guard lock(mutex);
  ++sums.waits[where];
  note("waits: " + where);
}

}  // namespace ddptrain::simulated
