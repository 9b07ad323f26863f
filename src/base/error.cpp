#include "base/error.h"

#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace ddptrain {

void check_failed(const char* expression, const char* file, int line, const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr,
               "\nddptrain: this is a bug in ddptrain, please report it with the recipe and these "
               "lines\n  %s\n  check '%s' failed at %s:%d\n",
               shown(message).c_str(), expression, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace ddptrain
