// Runs tests/sources/remote/store_server.py.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "base/files/plugin.h"
#include "support/where.h"

namespace ddptrain::test {

class StoreServer {
 public:
  explicit StoreServer(const std::string& folder) {
    const auto script = in_source("tests/sources/remote/store_server.py");
    int ends[2];
    if (::pipe(ends) != 0) return;
    const char* words[] = {"/usr/bin/python3", script.c_str(), folder.c_str(), nullptr};
    posix_spawn_file_actions_t streams;
    posix_spawn_file_actions_init(&streams);
    posix_spawn_file_actions_adddup2(&streams, ends[1], STDOUT_FILENO);
    posix_spawn(&process_, words[0], &streams, nullptr, const_cast<char**>(words), environ);
    posix_spawn_file_actions_destroy(&streams);
    ::close(ends[1]);
    std::FILE* output = ::fdopen(ends[0], "r");
    if (std::fscanf(output, "%d", &port_) != 1) port_ = 0;
    std::fclose(output);
  }
  ~StoreServer() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  std::string url(const std::string& path = "") const {
    return "http://127.0.0.1:" + std::to_string(port_) + (path.empty() ? "" : "/" + path);
  }

 private:
  pid_t process_ = 0;
  int port_ = 0;
};

/// Why tests of the plug-in cannot run; empty: they can.
inline std::string why_no_http() {
  const auto opened = open_plugin("libddptrain_curl.so", 1 /* RTLD_LAZY */);
  return opened.handle ? "" : "no libddptrain_curl.so (libcurl4-openssl-dev): " + opened.why_not;
}

}  // namespace ddptrain::test
