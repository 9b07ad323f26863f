// What a process writes to a terminal.
#pragma once

#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/output/log.h"

namespace ddptrain::test {

/// What `play` writes to a terminal of so many columns, in a process of its own.
inline std::string on_terminal(unsigned short columns, const std::function<void()>& play,
                               const std::string& variable = "TERM",
                               const std::string& value = "xterm") {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = columns;
  int terminal = -1;
  const auto child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    for (const auto* name : {"NO_COLOR", "LC_ALL", "LC_CTYPE"}) ::unsetenv(name);
    ::setenv("LANG", "C", 1);
    ::setenv("TERM", "xterm", 1);
    ::setenv(variable.c_str(), value.c_str(), 1);
    log::open(log::Level::normal, 0, "");
    play();
    ::_exit(0);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::waitpid(child, nullptr, 0);
  ::close(terminal);
  return text;
}

}  // namespace ddptrain::test
