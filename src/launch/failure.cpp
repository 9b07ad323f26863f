#include "launch/failure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <new>

#include "base/clock.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/secrets.h"

namespace ddptrain {
namespace {

constexpr const char* kNotDeterministic = "does not have a deterministic implementation";

std::string record_path(const std::string& folder, int rank) {
  return fmt::format("{}/failure.{}", folder, rank);
}

// The form that torchrun's agent reads and prints. Its root cause is the record with the smallest
// timestamp, in whole seconds: that of a secondary failure is rounded up, since the cause was
// recorded before it.
std::string to_torchelastic(const Failure& failure) {
  const auto now = std::to_string(std::time(nullptr) + (failure.secondary ? 1 : 0));
  return lossy_json_text({{"message",
                           {{"message", "ddptrain: " + failure.message},
                            {"errorCode", static_cast<int>(failure.code)},
                            {"extraInfo", {{"timestamp", now}}}}}});
}

/// What LibTorch and the vendors' libraries say where the machine is the reason; the first that
/// fits counts. An illegal access is none of the machine's: a kernel has a bug.
struct Sign {
  const char* text;
  Exit code;
  bool secondary = false;       // another rank is the cause
  const char* words = nullptr;  // for people, in place of the library's
};
constexpr Sign kSigns[] = {
    {"out of memory", Exit::memory},
    {"can't allocate memory", Exit::memory},
    {"not enough memory", Exit::memory},
    {"ALLOC_FAILED", Exit::memory},
    {kNotDeterministic, Exit::recipe},
    {"collective operation timeout", Exit::device, true},
    {"remote process exited", Exit::device, true, kPeerEnded},
    {"illegal memory access", Exit::bug},
    {"misaligned address", Exit::bug},
    {"illegal instruction", Exit::bug},
    {"invalid program counter", Exit::bug},
    {"watchdog thread terminated", Exit::device},
    {"NVIDIA driver", Exit::device},
    {"CUDA driver", Exit::device},
    {"CUDA error", Exit::device},
    {"no CUDA-capable device", Exit::device},
    {"GPU is lost", Exit::device},
    {"CUDNN_STATUS", Exit::device},
    {"CUBLAS_STATUS", Exit::device},
    {"NCCL", Exit::device},
};

/// Lines after the first are frames of C++.
std::string first_line(const std::string& what) { return what.substr(0, what.find('\n')); }

/// Torch's sentence ends in advice for its own users.
std::string in_a_recipe(const std::string& what) {
  return "train.deterministic: " + what.substr(0, what.find(kNotDeterministic)) +
         "has no deterministic implementation on this device; 'train.deterministic: false' allows "
         "another";
}

/// The size in "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has ..."; empty: none.
std::string asked_for(const std::string& message) {
  static const std::string start = "Tried to allocate ";
  const auto at = message.find(start);
  if (at == std::string::npos) return {};
  const auto rest = message.substr(at + start.size());
  return rest.substr(0, rest.find(". "));
}

void take_meaning(Failure& failure) {
  for (const auto& sign : kSigns) {
    if (failure.message.find(sign.text) == std::string::npos) continue;
    if (sign.code == Exit::bug) return;  // with all that a report needs
    failure.code = sign.code;
    failure.secondary = sign.secondary;
    failure.message = sign.words                       ? sign.words
                      : sign.text == kNotDeterministic ? in_a_recipe(failure.message)
                                                       : first_line(failure.message);
    return;
  }
}

/// What this process' last words need; a handler of C++ takes no argument.
struct LastWords {
  Topology topology;  // whom they are about
  Explain explain = [](const Failure& own) { return own; };
  std::recursive_timed_mutex claim;
};

LastWords& last_words() {
  static auto* words = new LastWords;  // threads may need it while the process ends
  return *words;
}

[[noreturn]] void end_with_failure() {
  const auto& words = last_words();
  if (const auto error = std::current_exception()) {
    claim_last_words();
    const auto failure = words.explain(failure_of(error, words.topology.rank));
    if (failure.code != Exit::bug || failure.secondary) end_process(failure);
    report_failure(words.topology, failure);
  }
  std::abort();
}

/// "rank 3: cannot read 'x'", "rank 3, all_reduce of the gradients group: ...": another rank passed
/// it on.
bool names_a_rank(const std::string& message) {
  constexpr std::string_view kRank = "rank ";
  return message.starts_with(kRank) && message.size() > kRank.size() &&
         std::isdigit(static_cast<unsigned char>(message[kRank.size()])) != 0;
}

std::string as_of(const Failure& cause) {
  return names_a_rank(cause.message) ? cause.message
                                     : fmt::format("rank {}: {}", cause.rank, cause.message);
}

bool has_content(const std::string& path) {
  std::error_code none;
  return std::filesystem::file_size(path, none) > 0 && !none;
}

}  // namespace

void rethrow_from(const char* phase, std::exception_ptr error) {
  const auto failure = failure_of(error, 0);
  if (failure.code != Exit::memory) std::rethrow_exception(error);
  throw OutOfMemory(phase, asked_for(failure.message));
}

OutOfMemory::OutOfMemory(std::string phase, std::string asked)
    : Error(Exit::memory, "out of memory in {}{}", phase,
            asked.empty() ? "" : ", where " + asked + " more were asked for"),
      phase_(std::move(phase)),
      asked_(std::move(asked)) {}

PeerError::PeerError(const Failure& cause) : Error(cause.code, as_of(cause), cause.place) {}

Failure failure_of(std::exception_ptr error, int rank) {
  Failure failure{rank, seconds_now(), Exit::bug, "", {}};
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    failure.code = known.code();
    failure.message = known.what();
    failure.place = known.place();
    failure.secondary = dynamic_cast<const PeerError*>(&known) != nullptr;
  } catch (const std::bad_alloc&) {
    failure.code = Exit::memory;
    failure.message = "out of memory";
  } catch (const std::exception& other) {
    failure.message = other.what();
    take_meaning(failure);
  } catch (...) {
    failure.message = "something that is no std::exception was thrown";
  }
  failure.message = without_secrets(failure.message);
  return failure;
}

void report_failure(const Topology& topology, const Failure& failure) noexcept {
  const auto record = [](const std::string& path, const std::string& text) {
    if (!has_content(path)) write_atomically(path, text);
  };
  try {
    if (!topology.store.empty())
      record(record_path(topology.store, failure.rank), to_record(failure));
    if (const char* file = std::getenv("TORCHELASTIC_ERROR_FILE"); file && *file)
      record(file, to_torchelastic(failure));
  } catch (...) {
    // The exit code still reports the failure.
  }
}

void report_what_no_one_catches(const Topology& topology) {
  last_words().topology = topology;
  std::set_terminate(end_with_failure);
}

void explain_what_no_one_catches(Explain explain) { last_words().explain = std::move(explain); }

void claim_last_words() {
  [[maybe_unused]] const bool first = last_words().claim.try_lock_for(std::chrono::seconds(30));
}

void end_process(const Failure& failure) {
  claim_last_words();
  report_failure(last_words().topology, failure);
  log::error(failure.message, failure.place);
  std::fflush(nullptr);
  ::_exit(static_cast<int>(failure.code));
}

std::string to_record(const Failure& failure) {
  return lossy_json_text({{"rank", failure.rank},
                          {"seconds", failure.seconds},
                          {"code", static_cast<int>(failure.code)},
                          {"message", failure.message},
                          {"file", failure.place.file},
                          {"line", failure.place.line},
                          {"column", failure.place.column},
                          {"secondary", failure.secondary}});
}

std::optional<Failure> from_record(const std::string& text) {
  const auto json = json_or_null(text);
  if (!json.is_object()) return {};
  Failure failure{json.at("rank"),
                  json.at("seconds"),
                  static_cast<Exit>(json.at("code").get<int>()),
                  json.at("message"),
                  {}};
  failure.place.file = json.at("file");
  failure.place.line = json.at("line");
  failure.place.column = json.at("column");
  failure.secondary = json.at("secondary");
  return failure;
}

std::optional<Failure> read_failure(const std::string& folder, int rank) {
  const auto path = record_path(folder, rank);
  if (!std::filesystem::exists(path)) return {};
  return from_record(read_text(path));
}

}  // namespace ddptrain
