#include "base/files/temporary_name.h"

#include <sys/random.h>

#include <cstdint>
#include <cstdio>

#include "base/error.h"

namespace ddptrain {

std::string temporary_name(const std::string& path) {
  std::uint64_t bits = 0;
  DDP_CHECK(::getrandom(&bits, sizeof bits, 0) == sizeof bits, "the kernel gives random bits");
  char text[32];
  std::snprintf(text, sizeof text, ".tmp%016llx", static_cast<unsigned long long>(bits));
  return path + text;
}

}  // namespace ddptrain
