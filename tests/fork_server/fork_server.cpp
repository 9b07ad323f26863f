// Preloaded into ddptrain: the process opens the engine, which costs 0.15 s, and then waits at
// main. For each request on the socket that DDPTRAIN_FORK_SERVER names, a fork of it runs main with
// the words and the environment of the request: the same program at the point where a rank of a run
// begins too (one LibTorch, opened before the fork). Client: tests/end_to_end/fork_client.cpp.
// It uses the C library alone: the program brings its own C++ library.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Main = int (*)(int, char**, char**);
using Nothing = void (*)();

constexpr const char* kVariable = "DDPTRAIN_FORK_SERVER";

Main program_main = nullptr;

/// What follows its counts: folder, file of stdout, file of stderr, words, environment; each ends
/// with a zero.
struct Request {
  uint32_t bytes = 0, words = 0, variables = 0;
};

[[noreturn]] void give_up(int code) { ::_exit(code); }

/// False at the end of the socket.
bool receive(int socket, void* place, size_t bytes) {
  for (auto* at = static_cast<char*>(place); bytes > 0;) {
    const auto got = ::read(socket, at, bytes);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

char* after(char* text) { return text + strlen(text) + 1; }

char** pointers(char*& text, uint32_t count) {
  auto** const all = static_cast<char**>(::calloc(count + 1, sizeof(char*)));
  for (uint32_t at = 0; at < count; ++at, text = after(text)) all[at] = text;
  return all;
}

/// Until the engine is open. Its OpenMP reads the policy then, as where the program opens it.
bool open_engine() {
  char path[PATH_MAX] = {};
  if (::readlink("/proc/self/exe", path, sizeof path - 32) <= 0) return false;
  char* const name = strrchr(path, '/') + 1;
  memcpy(name, "libddptrain_engine.so", sizeof "libddptrain_engine.so");
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  return ::dlopen(path, RTLD_LAZY | RTLD_GLOBAL) != nullptr;
}

void move_to(int file, int number) {
  if (file < 0 || ::dup2(file, number) < 0) give_up(126);
  ::close(file);
}

/// /proc/self/stat: fields that follow the name, from the third (proc(5)).
bool read_stat(unsigned long long* fields, int count) {
  char text[2048] = {};
  const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const auto got = ::read(file, text, sizeof text - 1);
  ::close(file);
  char* at = got > 0 ? strrchr(text, ')') : nullptr;
  if (at == nullptr) return false;
  at += 3;  // the third field is a letter
  for (int field = 1; field < count; ++field) fields[field] = ::strtoull(at, &at, 10);
  return true;
}

/// /proc shows the words and the environment from `begin` on, as after an exec. All other addresses
/// stay (PR_SET_MM_MAP, prctl(2), which needs no capability).
bool show(char* begin, char* environment, char* end) {
  constexpr int kThird = 3, kLast = 52;
  unsigned long long fields[kLast - kThird + 1] = {};
  if (!read_stat(fields, kLast - kThird + 1)) return false;
  const auto field = [&](int number) { return static_cast<__u64>(fields[number - kThird]); };
  const auto address = [](const void* at) { return reinterpret_cast<__u64>(at); };
  prctl_mm_map map{};
  map.start_code = field(26), map.end_code = field(27);
  map.start_stack = field(28);
  map.start_data = field(45), map.end_data = field(46);
  map.start_brk = field(47), map.brk = address(::sbrk(0));
  map.arg_start = address(begin), map.arg_end = map.env_start = address(environment);
  map.env_end = address(end);
  map.exe_fd = static_cast<__u32>(-1);
  return ::prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0;
}

int run(const Request& request, char* text) {
  ::setpgid(0, 0);
  char *const folder = text, *const out = after(folder), *const err = after(out);
  char* const begin = after(err);
  text = begin;
  char** const words = pointers(text, request.words);
  char* const variables = text;
  environ = pointers(text, request.variables);
  if (!show(begin, variables, text)) give_up(126);
  move_to(::open("/dev/null", O_RDONLY), 0);
  move_to(::open(out, O_CREAT | O_WRONLY | O_TRUNC, 0600), 1);
  move_to(::open(err, O_CREAT | O_WRONLY | O_TRUNC, 0600), 2);
  if (::chdir(folder) != 0) give_up(126);
  return program_main(static_cast<int>(request.words), words, environ);
}

// The process between ends at once, so that the program's parent is the test program, which takes
// it in as a subreaper and waits for it.
int serve(int, char**, char**) {
  const int socket = ::atoi(::getenv(kVariable));
  // A kernel that does not let /proc be set would hide programs from tests that look for them.
  static char nothing[2] = {};
  const char ready = open_engine() && show(nothing, nothing + 1, nothing + 2) ? 1 : 0;
  if (::write(socket, &ready, 1) != 1 || ready == 0) give_up(1);
  for (Request request; receive(socket, &request, sizeof request);) {
    auto* const text = static_cast<char*>(::malloc(request.bytes));
    if (!receive(socket, text, request.bytes)) break;
    const pid_t between = ::fork();
    if (between == 0) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::close(socket);
        return run(request, text);
      }
      give_up(::write(socket, &child, sizeof child) == sizeof child ? 0 : 1);
    }
    ::free(text);
    ::waitpid(between, nullptr, 0);
    const char done = 1;
    if (::write(socket, &done, 1) != 1) break;
  }
  give_up(0);
}

}  // namespace

extern "C" int __libc_start_main(Main main, int count, char** words, Nothing init, Nothing fini,
                                 Nothing loader, void* stack) {
  using Start = int (*)(Main, int, char**, Nothing, Nothing, Nothing, void*);
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  program_main = main;
  return start(::getenv(kVariable) ? serve : main, count, words, init, fini, loader, stack);
}
