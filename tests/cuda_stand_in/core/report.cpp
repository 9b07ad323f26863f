#include "cuda_stand_in/core/report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace ddptrain::stand_in {
namespace {

struct Records {
  std::mutex mutex;
  pid_t owner = 0;
  std::array<std::int64_t, static_cast<std::size_t>(Count::kinds)> counts{};
};

Records& records() {
  static auto* all = new Records;  // threads count while the process ends
  return *all;
}

// A process that was forked counts for itself.
Records& own_records() {
  auto& all = records();
  if (all.owner != ::getpid()) {
    all.owner = ::getpid();
    all.counts = {};
  }
  return all;
}

void append(const std::string& name, const std::string& line) {
  const char* folder = std::getenv("STAND_IN_REPORT");
  if (folder == nullptr) return;
  if (std::FILE* file = std::fopen((std::string(folder) + "/" + name).c_str(), "a")) {
    std::fputs((line + "\n").c_str(), file);
    std::fclose(file);
  }
}

}  // namespace

void count(Count what, std::int64_t times) {
  const std::lock_guard lock(records().mutex);
  own_records().counts[static_cast<std::size_t>(what)] += times;
}

void remark(const std::string& sentence) {
  append("faults", sentence);
  std::fprintf(stderr, "stand-in: %s\n", sentence.c_str());
}

void fault(const std::string& sentence) {
  remark(sentence);
  std::abort();
}

bool logs() {
  static const bool wanted = std::getenv("STAND_IN_LOG") != nullptr;
  return wanted;
}

void add_line(const std::string& file, const std::string& line) {
  append(file + "." + std::to_string(::getpid()), line);
}

void log_line(const std::string& line) {
  if (logs()) add_line("log", line);
}

void mark_step(std::size_t bytes) {
  const std::lock_guard lock(records().mutex);
  auto& own = own_records();
  std::string line = "bytes " + std::to_string(bytes);
  for (std::size_t i = 0; i < kCountNames.size(); ++i)
    line += std::string(" ") + kCountNames[i] + " " + std::to_string(own.counts[i]);
  add_line("counts", line);
  log_line(line);
}

}  // namespace ddptrain::stand_in

extern "C" [[noreturn]] STAND_IN_API int ddptrain_stand_in_lacks(const char* name) {
  ddptrain::stand_in::fault(std::string("the stand-in has no ") + name + ", which was called");
}
