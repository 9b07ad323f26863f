#include "launch/in_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace ddptrain {
namespace {

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto count = ::write(to, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) ::_exit(static_cast<int>(Exit::bug));
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const auto count = ::read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

[[noreturn]] void be_the_child(int to, const std::function<std::string()>& work) {
  try {
    write_all(to, work());
  } catch (...) {
    ::_exit(static_cast<int>(Exit::bug));  // what a person may see, work() returns
  }
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace

std::string in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    throw Error(Exit::device, std::string("cannot make a pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  const auto child = ::fork();
  if (child < 0)
    throw Error(Exit::device, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    be_the_child(ends[1], work);
  }
  ::close(ends[1]);
  auto text = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    throw Error(Exit::memory, "the process was killed, as happens where memory ends");
  if (status != 0) throw Error(Exit::bug, "a bug in ddptrain: the process that looked ended early");
  return text;
}

}  // namespace ddptrain
