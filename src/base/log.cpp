#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/error.h"

namespace ddptrain::log {
namespace {

/// stderr with a status line that stays below what is printed.
class TerminalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void show(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (!text.empty()) {
      std::fprintf(stderr, "\r\033[K%s", text.c_str());
    } else if (!status_.empty()) {
      std::fputc('\n', stderr);
    }
    std::fflush(stderr);
    status_ = text;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (!status_.empty()) std::fputs("\r\033[K", stderr);
    std::fwrite(message.payload.data(), 1, message.payload.size(), stderr);
    std::fputc('\n', stderr);
    if (!status_.empty()) std::fputs(status_.c_str(), stderr);
    std::fflush(stderr);
  }
  void flush_() override { std::fflush(stderr); }

 private:
  std::string status_;
};

/// This process's log: the one thing here that lasts.
struct Log {
  std::shared_ptr<TerminalSink> terminal = std::make_shared<TerminalSink>();
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("", terminal);
  Color color = Color::automatic;
  bool verbose = false;
  bool silent = false;  // a rank above 0: errors only
  std::mutex listening;
  std::function<void(const std::string&)> listener;
};

Log& process_log() {
  static Log log;
  return log;
}

bool colored() {
  const auto color = process_log().color;
  if (color != Color::automatic) return color == Color::always;
  const char* no = std::getenv("NO_COLOR");
  return is_terminal() && (no == nullptr || *no == '\0');
}

std::string tagged(const std::string& where, const char* tag, const char* code,
                   const std::string& line) {
  if (!colored()) return where + tag + ": " + line;
  return where + "\033[" + code + "m" + tag + ":\033[0m " + line;
}

spdlog::level::level_enum threshold(Level level, bool silent) {
  if (silent) return spdlog::level::err;
  if (level == Level::quiet) return spdlog::level::warn;
  return level == Level::normal ? spdlog::level::info : spdlog::level::debug;
}

}  // namespace

void open(Level level, int rank, const std::string& file) {
  auto& log = process_log();
  log.verbose = level == Level::verbose;
  log.silent = rank > 0;
  log.terminal->set_level(threshold(level, log.silent));
  auto logger = std::make_shared<spdlog::logger>("", log.terminal);
  logger->set_level(spdlog::level::debug);
  if (!file.empty()) try {
      auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
      sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e %v");
      logger->sinks().push_back(sink);
    } catch (const spdlog::spdlog_ex& failure) {
      throw Error(Exit::data, "cannot write the log '" + file + "': " + failure.what());
    }
  logger->flush_on(spdlog::level::debug);
  log.logger = logger;
}

void use_color(Color color) { process_log().color = color; }
bool is_verbose() { return process_log().verbose; }

// The text is an argument, never a format: it may hold braces.
void debug(const std::string& line) { process_log().logger->debug("{}", line); }
void info(const std::string& line) { process_log().logger->info("{}", line); }
void warning(const std::string& line) {
  auto& log = process_log();
  log.logger->warn("{}", tagged("", "warning", "1;35", line));
  const std::lock_guard lock(log.listening);
  if (log.listener) log.listener(line);
}
void error(const std::string& line) { error(line, {}); }
void error(const std::string& line, const Place& place) {
  std::string where;
  if (!place.file.empty()) {
    where = place.file + ":";
    if (place.known()) where += std::to_string(place.line) + ":";
    if (place.column > 0) where += std::to_string(place.column) + ":";
    where += " ";
  }
  process_log().logger->error("{}", tagged(where, "error", "1;31", line));
}

WarningListener::WarningListener(std::function<void(const std::string&)> tell) {
  auto& log = process_log();
  const std::lock_guard lock(log.listening);
  log.listener = std::move(tell);
}

WarningListener::~WarningListener() {
  auto& log = process_log();
  const std::lock_guard lock(log.listening);
  log.listener = nullptr;
}

void status(const std::string& text) {
  auto& log = process_log();
  if (is_terminal() && !log.silent) log.terminal->show(text);
}

bool is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace ddptrain::log
