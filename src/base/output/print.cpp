#include "base/output/print.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/output/color.h"
#include "base/output/log.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/secrets.h"
#include "base/text.h"

namespace ddptrain {
namespace {

template <class Value>
std::string formatted(const std::string& conversion, Value value) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, conversion.c_str(), value)),
                   '\0');
  std::snprintf(text.data(), text.size() + 1, conversion.c_str(), value);
#pragma GCC diagnostic pop
  return text;
}

/// The next argument as its conversion ("%-24s", "%10ld") has it.
std::string argument(const std::string& conversion, std::va_list& arguments) {
  const char kind = conversion.back(), size = conversion[conversion.size() - 2];
  if (kind == 's')
    return formatted(conversion, shown(without_secrets(va_arg(arguments, const char*))).c_str());
  if (kind == 'f' || kind == 'g' || kind == 'e')
    return formatted(conversion, va_arg(arguments, double));
  if (size == 'l') return formatted(conversion, va_arg(arguments, long));
  if (size == 'z') return formatted(conversion, va_arg(arguments, std::size_t));
  DDP_CHECK(kind == 'd' || kind == 'u' || kind == 'c' || kind == 'x', conversion);
  return formatted(conversion, va_arg(arguments, int));
}

/// errno of the first write to stdout that failed; 0: none did.
std::atomic<int>& stdout_error() {
  static std::atomic<int> error = 0;
  return error;
}

void note_stdout_error() {
  int none = 0;
  const int error = errno;
  if (stdout_error().compare_exchange_strong(none, error) && error == EPIPE)
    log::record("the reader of stdout is gone (SIGPIPE)");
}

void put(std::string_view bytes, std::FILE* to) {
  const auto written = std::fwrite(bytes.data(), 1, bytes.size(), to);
  if (written < bytes.size() && to == stdout) note_stdout_error();
}

}  // namespace

void print_shown(const char* format, ...) {
  std::string text;
  std::va_list arguments;
  va_start(arguments, format);
  for (std::string_view rest = format; !rest.empty();) {
    const auto literal = rest.substr(0, rest.find('%'));
    text += literal;
    rest.remove_prefix(literal.size());
    if (rest.empty()) break;
    const auto end = rest.find_first_of("%sfgeducx", 1);
    DDP_CHECK(end != std::string_view::npos, format);
    const std::string conversion(rest.substr(0, end + 1));
    text += conversion == "%%" ? "%" : argument(conversion, arguments);
    rest.remove_prefix(end + 1);
  }
  va_end(arguments);
  print_lines(text);
}

void print_lines(std::string_view text, std::FILE* to) { put(shown_lines(text), to); }

void print_problems(std::string_view text, std::FILE* to) {
  auto lines = split(shown_lines(text), '\n');  // what others wrote has no colors
  const std::pair<std::string, const char*> words[] = {
      {"error", "31"}, {"warning", "35"}, {"note", "36"}};
  for (auto& line : lines)
    for (const auto& [word, color] : words) {
      const auto at = line.find(": " + word + "[");
      if (!log::is_colored() || line.starts_with(' ') || at == std::string::npos) continue;
      line.replace(at + 2, word.size(), std::string("\033[1;") + color + "m" + word + "\033[0m");
      break;
    }
  put(join(lines, "\n"), to);
}

void print_inked(const std::vector<InkedText>& texts) {
  const bool colored = log::is_stdout_colored();
  std::string all;
  for (const auto& [text, ink] : texts) {
    const auto* code = !colored || ink == Ink::plain ? ""
                       : ink == Ink::faint           ? "\033[2m"
                                                     : "\033[36m";
    all += code + shown_lines(text) + (*code == '\0' ? "" : "\033[0m");
  }
  put(all, stdout);
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  for (const auto& line : table_lines(rows, terminal_columns(STDOUT_FILENO)))
    print_lines(line + "\n");
}

void print_exact(std::string_view bytes) {
  if (::isatty(STDOUT_FILENO) == 1) return print_lines(bytes);
  put(bytes, stdout);
}

bool flush_stdout() {
  if (std::fflush(stdout) != 0) note_stdout_error();
  const int error = stdout_error();
  if (error != 0 && error != EPIPE)
    throw Error(Exit::data, std::string("cannot write to stdout: ") + std::strerror(error));
  return error == 0;
}

bool stdout_is_gone() { return stdout_error() == EPIPE; }

int delivered(int code) { return flush_stdout() || code > 128 ? code : 128 + SIGPIPE; }

}  // namespace ddptrain
