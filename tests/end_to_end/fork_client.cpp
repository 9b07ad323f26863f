#include "end_to_end/fork_client.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <stdexcept>

#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

/// Of variables that libraries read while they are loaded: what the server has is for all.
bool is_read_while_loaded(const std::string& name) {
  static const std::array prefixes{"LD_",   "OMP_",  "GOMP_",   "KMP_",  "MKL_",          "MALLOC_",
                                   "GLIBC", "TORCH", "PYTORCH", "ATEN_", "ONEDNN_",       "DNNL_",
                                   "CUDA_", "NCCL_", "GLOO_",   "C10_",  "DDPTRAIN_TORCH"};
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

class ForkServer {
 public:
  ForkServer() {
    const auto library = test::build_folder() + "/libfork_server.so";
    if (std::getenv("DDPTRAIN_EXEC") || !std::filesystem::exists(library)) return;
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const int kept = ::dup(sockets[1]);  // which an exec does not close
      ::setenv("LD_PRELOAD", library.c_str(), 1);
      ::setenv("DDPTRAIN_FORK_SERVER", std::to_string(kept).c_str(), 1);
      const auto program = test::program();
      ::execl(program.c_str(), program.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(sockets[1]);
    socket_ = sockets[0];
    char ready = 0;
    serves_ = ::read(socket_, &ready, 1) == 1 && ready == 1;
  }
  ~ForkServer() {
    if (socket_ >= 0) ::close(socket_);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  bool serves() const { return serves_; }

  /// `text`: what follows the counts of a request (tests/fork_server/fork_server.cpp).
  pid_t start(const std::string& text, std::size_t words, std::size_t variables) {
    const std::lock_guard lock(mutex_);
    const std::array counts{static_cast<std::uint32_t>(text.size()),
                            static_cast<std::uint32_t>(words),
                            static_cast<std::uint32_t>(variables)};
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    send(counts.data(), sizeof counts);
    send(text.data(), text.size());
    pid_t child = 0;
    char done = 0;
    receive(&child, sizeof child);
    receive(&done, 1);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    return child;
  }

 private:
  void send(const void* place, std::size_t bytes) const {
    if (::send(socket_, place, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes))
      throw std::runtime_error("the fork server takes no request");
  }
  void receive(void* place, std::size_t bytes) const {
    if (::recv(socket_, place, bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes))
      throw std::runtime_error("the fork server gives no answer");
  }

  pid_t pid_ = 0;
  int socket_ = -1;
  bool serves_ = false;
  std::mutex mutex_;
};

std::map<std::string, std::string> variables_of(const Start& start) {
  auto all = start.environment;
  for (char** at = environ; *at; ++at)
    if (const char* sign = std::strchr(*at, '='))
      all.emplace(std::string(*at, static_cast<std::size_t>(sign - *at)), sign + 1);
  all["PWD"] = start.folder;
  return all;
}

}  // namespace

pid_t forked(const Start& start) {
  for (const auto& [name, value] : start.environment)
    if (is_read_while_loaded(name)) return 0;
  static ForkServer server;
  if (!server.serves()) return 0;
  std::string text;
  const auto add = [&](const std::string& part) { text.append(part.c_str(), part.size() + 1); };
  for (const auto* part : {&start.folder, &start.out, &start.err}) add(*part);
  for (const auto& word : start.words) add(word);
  const auto variables = variables_of(start);
  for (const auto& [name, value] : variables) add(name + "=" + value);
  return server.start(text, start.words.size(), variables.size());
}

}  // namespace ddptrain::end_to_end
