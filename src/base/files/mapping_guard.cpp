#include "base/files/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/error.h"

namespace ddptrain {
namespace {

/// A guarded range, in words that the handler can read at any time.
struct Guarded {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> lost{false};
};

constexpr std::size_t most_guarded = 256;
constexpr std::size_t unguarded = most_guarded;

// All that a handler can reach are globals.
std::array<Guarded, most_guarded> guarded;
std::atomic<bool> any_lost{false};
std::uintptr_t page_bytes = 4096;
struct sigaction action_before {};

/// What the handler does not see.
struct Paths {
  std::mutex lock;
  std::array<std::string, most_guarded> of;
};

Paths& paths() {
  static Paths paths;
  return paths;
}

// From the page on all is beyond the end of the file: zeros take its place, and the access is made
// again. Only atomics and a system call.
bool put_zeros(Guarded& range, std::uintptr_t at) {
  const auto begin = range.begin.load(), end = range.end.load();
  if (begin == 0 || at < begin || at >= end) return false;
  const auto page = at & ~(page_bytes - 1);
  if (::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    return false;
  range.lost = true;
  any_lost = true;
  return true;
}

void on_bus_error(int, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (auto& range : guarded)
    if (put_zeros(range, at)) return;
  ::sigaction(SIGBUS, &action_before, nullptr);  // not ours: the access is made again, and kills
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &action_before);
  });
}

}  // namespace

MappingGuard::MappingGuard(const void* data, std::size_t size, const std::string& path)
    : number_(unguarded) {
  install();
  const std::lock_guard lock(paths().lock);
  for (std::size_t i = 0; i < most_guarded && number_ == unguarded; ++i)
    if (guarded[i].begin == 0 && !guarded[i].lost) number_ = i;
  if (number_ == unguarded) return;
  paths().of[number_] = path;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  guarded[number_].end = begin + (size + page_bytes - 1) / page_bytes * page_bytes;
  guarded[number_].begin = begin;
}

MappingGuard::MappingGuard(MappingGuard&& other) noexcept : number_(other.number_) {
  other.number_ = unguarded;
}

// A range that was lost stays on record.
MappingGuard::~MappingGuard() {
  if (number_ != unguarded) guarded[number_].begin = 0;
}

std::string lost_mapped_file() {
  if (!any_lost) return {};
  const std::lock_guard lock(paths().lock);
  for (std::size_t i = 0; i < most_guarded; ++i)
    if (guarded[i].lost)
      return "'" + paths().of[i] +
             "' was cut, or its disk failed, while it was being read (SIGBUS); replace files by "
             "renaming a new one into their place";
  return {};
}

void check_mapped_files() {
  if (const auto lost = lost_mapped_file(); !lost.empty()) throw Error(Exit::data, lost);
}

}  // namespace ddptrain
