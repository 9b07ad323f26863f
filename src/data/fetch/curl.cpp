#include "data/fetch/curl.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/secrets.h"
#include "base/text.h"

namespace ddptrain {
namespace {

// --disable comes first, or curl reads .curlrc. Redirects stay https, and are few.
std::vector<std::string> curl_words(std::int64_t from, std::int64_t most) {
  std::vector<std::string> words{"curl",
                                 "--disable",
                                 "--config",
                                 "-",
                                 "--fail",
                                 "--location",
                                 "--max-redirs",
                                 "10",
                                 "--proto",
                                 "=https",
                                 "--proto-redir",
                                 "=https",
                                 "--connect-timeout",
                                 "30",
                                 "--speed-limit",
                                 "1",
                                 "--speed-time",
                                 "120",
                                 "--silent",
                                 "--show-error",
                                 "--output",
                                 "-"};
  words.insert(words.end(), {"--max-filesize", std::to_string(most)});
  if (from > 0) words.insert(words.end(), {"--continue-at", std::to_string(from)});
  return words;
}

[[noreturn]] void fail_to_prepare() {
  throw Error(Exit::data, std::string("cannot prepare a download: ") + std::strerror(errno));
}

/// Text as a file without a name.
int file_of(const std::string& text) {
  const int file = ::memfd_create("curl", MFD_CLOEXEC);
  const bool whole =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || ::lseek(file, 0, SEEK_SET) != 0) fail_to_prepare();
  return file;
}

}  // namespace

std::string curl_option(const std::string& name, const std::string& value) {
  std::string line = name + " = \"";
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + "\"\n";
}

Curl::Curl(const std::string& url, std::int64_t from, std::int64_t most) {
  start(curl_option("url", url), from, most);
}

void Curl::start(const std::string& config, std::int64_t from, std::int64_t most) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_to_prepare();
  output_ = ends[0];
  const int input = file_of(config);
  errors_ = file_of("");  // what it says may hold a password
  auto words = curl_words(from, most);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_adddup2(&streams, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, ends[1], STDOUT_FILENO);
  if (errors_ >= 0) posix_spawn_file_actions_adddup2(&streams, errors_, STDERR_FILENO);
  const int failed =
      posix_spawnp(&process_, arguments[0], &streams, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  ::close(ends[1]);
  ::close(input);
  if (failed == 0) return;
  ::close(output_);
  if (errors_ >= 0) ::close(errors_);
  throw Error(Exit::data, std::string("cannot run the program 'curl' to fetch data: ") +
                              std::strerror(failed) +
                              "; install it, or name the archive under data.source.file");
}

int Curl::wait() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Curl::complaint() const {
  char text[1000];
  const auto size = errors_ < 0 ? 0 : ::pread(errors_, text, sizeof text, 0);
  const auto lines =
      split(trim({text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))}), '\n');
  return without_secrets(lines.back());
}

Curl::~Curl() {
  ::close(output_);
  if (errors_ >= 0) ::close(errors_);
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  wait();
}

}  // namespace ddptrain
