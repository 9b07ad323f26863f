// Threads of OpenMP that wait shall sleep. LibTorch's runtime (libgomp) spins by default: next to
// other work each wait of a small operation then costs a time slice (bench/busy_neighbor). It
// reads OMP_WAIT_POLICY when it is loaded, before main: a function of .preinit_array comes before
// that.
#include <cstring>

namespace {

constexpr char policy[] = "OMP_WAIT_POLICY=passive";

constexpr const char* harmless[] = {"_=",     "OLDPWD=", "SHLVL=", "PWD=",  "LOGNAME=", "USER=",
                                    "SHELL=", "TERM=",   "LANG=",  "HOME=", "PATH="};

char** place = nullptr;     // in the environment, where the policy stands
char* displaced = nullptr;  // and what stood there

bool names(const char* entry, const char* name) {
  return std::strncmp(entry, name, std::strlen(name)) == 0;
}

// The array cannot grow this early, so the policy borrows the place of a variable that no library
// reads while it is loaded. Settings of the user stay.
void borrow(int, char**, char** environment) {
  for (char** at = environment; *at; ++at)
    if (names(*at, "OMP_WAIT_POLICY=") || names(*at, "GOMP_SPINCOUNT=")) return;
  for (const char* name : harmless)
    for (char** at = environment; *at; ++at) {
      if (!names(*at, name)) continue;
      place = at;
      displaced = *at;
      *at = const_cast<char*>(policy);
      return;
    }
}

// The program's own constructors run after those of all libraries.
__attribute__((constructor)) void give_back() {
  if (place && *place == policy) *place = displaced;
}

}  // namespace

extern "C" {
__attribute__((section(".preinit_array"), used)) void (*ddptrain_before_libraries)(int, char**,
                                                                                   char**) = borrow;
}
