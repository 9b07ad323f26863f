#include "base/output/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/output/color.h"
#include "base/output/shared_log.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/secrets.h"
#include "base/text.h"

namespace ddptrain::log {
namespace {

/// A terminal that can rewrite a line, and no request for plain text.
bool is_lively() {
  const char* term = std::getenv("TERM");
  const char* no = std::getenv("NO_COLOR");
  return is_terminal() && (term == nullptr || std::strcmp(term, "dumb") != 0) &&
         (no == nullptr || *no == '\0');
}

/// stderr with a status line that stays below what is printed.
class TerminalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void show(const std::vector<StatusField>& fields) {
    const std::lock_guard lock(mutex_);
    if (gone_) return;
    erase();
    fields_ = fields;
    draw();
    std::fflush(stderr);
    note_whether_gone();
  }
  bool gone() const { return gone_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (gone_) return;
    if (message.level >= spdlog::level::err) fields_.clear();  // what it says is over
    if (width_ > 0) erase();
    std::fwrite(message.payload.data(), 1, message.payload.size(), stderr);
    std::fputc('\n', stderr);
    draw();
    std::fflush(stderr);
    note_whether_gone();
  }
  void flush_() override { std::fflush(stderr); }

 private:
  // Terminals rewrap a line when they become narrower: it may take several rows by now.
  void erase() {
    const auto columns = terminal_columns(STDERR_FILENO);
    if (columns > 0 && width_ > columns) std::fprintf(stderr, "\033[%zuA", (width_ - 1) / columns);
    std::fputs("\r\033[J", stderr);
    width_ = 0;
  }

  // The last column stays free: some terminals wrap when it is written.
  void draw() {
    if (fields_.empty()) return;
    const auto columns = terminal_columns(STDERR_FILENO);
    const auto line = fitted(fields_, columns > 1 ? columns - 1 : 1);
    std::fputs(line.c_str(), stderr);
    width_ = display_width(line);
  }

  std::vector<StatusField> fields_;
  std::size_t width_ = 0;  // of the line as drawn; 0: there is none

  // stderr has no buffer: errno is that of the last write.
  void note_whether_gone() { gone_ = gone_ || (std::ferror(stderr) && errno == EPIPE); }

  std::atomic<bool> gone_ = false;
};

/// This process's log: the one thing here that lasts.
struct Log {
  std::shared_ptr<TerminalSink> terminal = std::make_shared<TerminalSink>();
  std::shared_ptr<spdlog::logger> file;  // null: none
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("", terminal);
  Color color = Color::automatic;
  Level level = Level::normal;
  bool shows_status = true;
  bool silent = false;  // a rank above 0: errors only
  std::mutex listening;
  std::function<void(const std::string&)> listener;
};

Log& process_log() {
  static Log log;
  return log;
}

}  // namespace

namespace {

bool is_colored_on(bool terminal) {
  const auto color = process_log().color;
  if (color != Color::automatic) return color == Color::always;
  const char* no = std::getenv("NO_COLOR");
  return terminal && (no == nullptr || *no == '\0');
}

}  // namespace

bool is_colored() { return is_colored_on(is_terminal()); }
bool is_stdout_colored() { return is_colored_on(::isatty(STDOUT_FILENO) == 1); }

namespace {

std::string tagged(const std::string& where, const char* tag, const char* code,
                   const std::string& line) {
  if (!is_colored()) return where + tag + ": " + line;
  return fmt::format("{}\033[{}m{}:\033[0m {}", where, code, tag, line);
}

/// What others wrote, too, as one line without secrets.
std::string fit_to_log(const std::string& line) { return shown(without_secrets(line)); }

spdlog::level::level_enum threshold(Level level, bool silent) {
  if (silent) return spdlog::level::err;
  if (level == Level::quiet) return spdlog::level::warn;
  return level == Level::normal ? spdlog::level::info : spdlog::level::debug;
}

void open_with(Level level, int rank, const std::string& file, const std::string& before) {
  auto& log = process_log();
  log.level = level;
  log.silent = rank > 0;
  log.terminal->set_level(threshold(level, log.silent));
  auto logger = std::make_shared<spdlog::logger>("", log.terminal);
  logger->set_level(spdlog::level::debug);
  log.file = nullptr;
  if (!file.empty()) try {
      auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
      sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e " + before + "%v");
      logger->sinks().push_back(sink);
      log.file = std::make_shared<spdlog::logger>("", sink);
      log.file->flush_on(spdlog::level::info);
    } catch (const spdlog::spdlog_ex& failure) {
      throw Error(Exit::data, "cannot write the log '" + file + "': " + failure.what());
    }
  logger->flush_on(spdlog::level::debug);
  log.logger = logger;
}

}  // namespace

void open(Level level, int rank, const std::string& file) { open_with(level, rank, file, ""); }

void open_shared(Level level, int rank, const std::string& file) {
  open_with(level, rank, file, fmt::format("rank {}: ", rank));
}

void use_color(Color color) { process_log().color = color; }
bool is_verbose() { return process_log().level == Level::verbose; }

// The text is an argument, never a format: it may hold braces.
void debug(const std::string& line) { process_log().logger->debug("{}", fit_to_log(line)); }
void info(const std::string& line) { process_log().logger->info("{}", fit_to_log(line)); }
void record(const std::string& line) {
  if (const auto& file = process_log().file) file->info("{}", fit_to_log(line));
}
void announce(const std::string& line) {
  auto& log = process_log();
  log.terminal->set_level(threshold(log.level, false));
  info(line);
  log.terminal->set_level(threshold(log.level, log.silent));
}
void warning(const std::string& line) {
  auto& log = process_log();
  log.logger->warn("{}", tagged("", "warning", "1;35", fit_to_log(line)));
  const std::lock_guard lock(log.listening);
  if (log.listener) log.listener(without_secrets(line));
}
void error(const std::string& line) { error(line, {}); }
void error(const std::string& line, const Place& place) {
  std::string where;
  if (!place.file.empty()) {
    where = place.file + ":";
    if (place.known()) where += fmt::format("{}:", place.line);
    if (place.column > 0) where += fmt::format("{}:", place.column);
    where += " ";
  }
  process_log().logger->error("{}", tagged(fit_to_log(where), "error", "1;31", fit_to_log(line)));
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

void status(const std::vector<StatusField>& fields) {
  auto& log = process_log();
  if (!has_status() || log.silent) return;
  auto safe = fields;
  for (auto& field : safe) field.text = fit_to_log(field.text);
  log.terminal->show(safe);
}

void status(const std::string& text) {
  status(text.empty() ? std::vector<StatusField>{} : std::vector<StatusField>{{text}});
}

bool has_status() { return process_log().shows_status && is_lively(); }

void hide_status() { process_log().shows_status = false; }

bool terminal_is_gone() { return process_log().terminal->gone(); }

bool is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace ddptrain::log
