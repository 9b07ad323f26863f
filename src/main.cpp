// Where the program starts: everything else is a verb.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "program/program.h"

namespace {

// A failed check or an unexpected exception aborts: that is a bug of ours, with an exit
// code of its own.
void on_abort(int) {
  constexpr char message[] =
      "this is a bug in ddptrain; please report it with the recipe and 'ddptrain version'\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message, sizeof message - 1);
  ::_exit(static_cast<int>(ddptrain::Exit::bug));
}

}  // namespace

// Of schema_text.cpp; null in the program that writes this text while ddptrain is built.
extern "C" [[gnu::weak]] const char ddptrain_schema[];

int main(int argc, char** argv) {
  std::signal(SIGABRT, on_abort);
  const auto& program = ddptrain::main_program(ddptrain_schema ? ddptrain_schema : "");
  const int code = ddptrain::run_command_line(program, {argv, argv + argc});
#ifdef __SANITIZE_ADDRESS__
  return code;  // leaks are looked for on the way out
#else
  // All of ours is closed. To take apart what LibTorch registered at the start takes 60 ms.
  std::fflush(nullptr);
  std::_Exit(code);
#endif
}
