#include "data/fetch.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace ddptrain {
namespace {

std::vector<std::string> curl_command(const std::string& url, const std::string& path) {
  std::vector<std::string> words{"curl",
                                 "--fail",
                                 "--location",
                                 "--proto",
                                 "=https,http,file",
                                 "--proto-redir",
                                 "=https,http",
                                 "--retry",
                                 "3",
                                 "--connect-timeout",
                                 "30",
                                 "--continue-at",
                                 "-",
                                 "--output",
                                 path};
  if (!log::is_terminal()) words.insert(words.end(), {"--silent", "--show-error"});
  words.insert(words.end(), {"--url", url});
  return words;
}

/// The exit status of a program, -1 when it did not exit by itself.
int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failed != 0)
    throw Error(Exit::data, "cannot run the program '" + words[0] +
                                "' to fetch data: " + std::strerror(failed) +
                                "; install it, or name the archive under data.source.file");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string reason(int status) {
  switch (status) {
    case 6:
      return "the host's name is not known";
    case 7:
      return "the host does not answer";
    case 22:
      return "the server has no such file";
    case 23:
      return "the disk is full or the folder not writable";
    case 28:
      return "timed out";
    case 37:
      return "no such file";
    default:
      return "curl ended with status " + std::to_string(status);
  }
}

/// A URL without what may be secret: a user's password, the values of a query.
std::string shown(const std::string& url) {
  auto text = url.substr(0, url.find('?'));
  const auto host = text.find("://");
  const auto at = text.find('@');
  if (host != std::string::npos && at != std::string::npos && at < text.find('/', host + 3))
    text.erase(host + 3, at + 1 - (host + 3));
  return url.find('?') == std::string::npos ? text : text + "?...";
}

}  // namespace

void fetch(const std::string& url, const std::string& path) {
  log::info("fetching " + shown(url));
  const int status = run_program(curl_command(url, path));
  if (status != 0) throw Error(Exit::data, "cannot fetch '" + shown(url) + "': " + reason(status));
}

}  // namespace ddptrain
