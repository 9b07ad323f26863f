// The engine as a program, so that its calls can be exchanged when it is linked.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "jobs/engine.h"

int main(int argc, char** argv) {
  std::signal(SIGABRT, [](int) { std::_Exit(static_cast<int>(ddptrain::Exit::bug)); });
  const int code = ddptrain::run_command_line(ddptrain::engine_program(), {argv, argv + argc});
  std::fflush(nullptr);
  std::_Exit(code);
}
