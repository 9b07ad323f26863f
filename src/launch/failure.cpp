#include "launch/failure.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/files.h"
#include "base/secrets.h"

namespace ddptrain {
namespace {

using Json = nlohmann::json;

std::string record_path(const std::string& folder, int rank) {
  return folder + "/failure." + std::to_string(rank);
}

// Bytes of a message need not be UTF-8 (file names): replaced rather than refused.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The form that torchrun's agent reads and prints. Its root cause is the record with the smallest
// timestamp, in whole seconds: that of a secondary failure is rounded up, since the cause was
// recorded before it.
std::string to_torchelastic(const Failure& failure) {
  const auto now = std::to_string(std::time(nullptr) + (failure.secondary ? 1 : 0));
  return dump({{"message",
                {{"message", "ddptrain: " + failure.message},
                 {"errorCode", static_cast<int>(failure.code)},
                 {"extraInfo", {{"timestamp", now}}}}}});
}

bool is_out_of_memory(const std::string& what) {
  for (const auto* sign :
       {"out of memory", "can't allocate memory", "not enough memory", "ALLOC_FAILED"})
    if (what.find(sign) != std::string::npos) return true;
  return false;
}

bool has_content(const std::string& path) {
  std::error_code none;
  return std::filesystem::file_size(path, none) > 0 && !none;
}

}  // namespace

PeerError::PeerError(const Failure& cause)
    : Error(cause.code, "rank " + std::to_string(cause.rank) + ": " + cause.message, cause.place) {}

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
    if (is_out_of_memory(failure.message)) failure.code = Exit::memory;
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
    // The exit code still tells.
  }
}

std::string to_record(const Failure& failure) {
  return dump({{"rank", failure.rank},
               {"seconds", failure.seconds},
               {"code", static_cast<int>(failure.code)},
               {"message", failure.message},
               {"file", failure.place.file},
               {"line", failure.place.line},
               {"column", failure.place.column},
               {"secondary", failure.secondary}});
}

std::optional<Failure> from_record(const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return {};
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
