#include "sources/fetch/curl.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
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
  int failed = 0;
  try {
    process_.emplace(ProgramStart{curl_words(from, most), input, ends[1], errors_});
  } catch (const std::system_error& error) {
    failed = error.code().value();
  }
  ::close(ends[1]);
  ::close(input);
  if (failed == 0) return;
  ::close(output_);
  ::close(errors_);
  throw Error(Exit::data,
              "cannot run the program 'curl', which fetches files: {}; install it, or fetch the "
              "file by other means (data.source.file, --file, --wheels)",
              std::strerror(failed));
}

int Curl::wait() {
  process_->wait();
  return process_->killed_by() == 0 ? process_->code() : -1;
}

std::string Curl::complaint() const {
  char text[1000];
  const auto size = ::pread(errors_, text, sizeof text, 0);
  const auto lines =
      split(trim({text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))}), '\n');
  return without_secrets(lines.back());
}

Curl::~Curl() {
  ::close(output_);
  ::close(errors_);
}

}  // namespace ddptrain
